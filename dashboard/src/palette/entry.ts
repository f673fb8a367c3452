import type { IconName } from '../ui/icon.tsx'

export type Entry = {
  key: string
  group: string
  title: string
  note?: string
  icon: IconName
  /** More words that match it. */
  also?: string
  run: () => void
}

const rank = (entry: Entry, words: readonly string[]): number | null => {
  const title = entry.title.toLowerCase()
  const text = `${title} ${entry.note ?? ''} ${entry.also ?? ''}`.toLowerCase()
  if (!words.every((word) => text.includes(word))) return null
  const [first = ''] = words
  if (title.startsWith(first)) return 0
  return title.includes(first) ? 1 : 2
}

/** The entries that contain every word; those whose title starts with the text first. Groups keep their order. */
export const findEntries = (entries: readonly Entry[], text: string, perGroup: number): Entry[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = entries.flatMap((entry) => {
    const position = rank(entry, words)
    return position === null ? [] : [{ entry, position }]
  })
  const groups = [...new Set(ranked.map(({ entry }) => entry.group))]
  return groups.flatMap((group) =>
    ranked
      .filter(({ entry }) => entry.group === group)
      .sort((a, b) => a.position - b.position)
      .slice(0, perGroup)
      .map(({ entry }) => entry),
  )
}
