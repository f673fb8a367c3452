import type { Clock } from '../../lib/clock.ts'
import { mask } from '../../lib/text.ts'

export type Entry = { at: string; what: 'received' | 'sent' | 'rule' | 'clock'; detail: Record<string, string | number | null> }

const maxEntries = 2_000

/** Entries in order, newest last. Phone and account numbers are masked. URLs are not stored, because they contain secrets. */
export const createJournal = (clock: Clock) => {
  const entries: Entry[] = []
  return {
    add: (what: Entry['what'], detail: Entry['detail']): void => {
      entries.push({ at: clock.now().toISOString(), what, detail })
      if (entries.length > maxEntries) entries.splice(0, entries.length - maxEntries)
    },
    clear: (): void => void entries.splice(0),
    read: (): readonly Entry[] => entries,
  }
}

export type Journal = ReturnType<typeof createJournal>

export const maskedParty = (party: string | null): string | null => (party === null ? null : mask(party))
