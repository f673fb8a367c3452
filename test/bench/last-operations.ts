import { readFile, writeFile } from 'node:fs/promises'

/** The ratios of the last table in docs/performance.md, for programs. */
const file = new URL('./operations.json', import.meta.url)

export type Ratios = ReadonlyMap<string, number>

export const readLast = async (): Promise<Ratios> =>
  new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, number>))

export const writeLast = (ratios: Ratios): Promise<void> => {
  const rounded = [...ratios].map(([name, ratio]) => [name, Number(ratio.toFixed(2))])
  return writeFile(file, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
}

/** An operation may lose a quarter of its ratio before it counts as slower: what rounds on one machine differ by. */
const mayFallTo = 0.75

/** The operations that have become slower against their floor, each with what it was. One that was not measured before has not. */
export const fallenOf = (before: Ratios, now: Ratios): string[] =>
  [...now].flatMap(([name, ratio]) => {
    const last = before.get(name)
    return last === undefined || ratio >= last * mayFallTo ? [] : [`${name}: ${ratio.toFixed(2)}, was ${last.toFixed(2)}`]
  })
