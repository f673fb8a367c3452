import type { Clock } from '../lib/clock.ts'

/**
 * What a process remembers: payments and idempotency keys that it acknowledged, attempts that it sent, seals that it made. `record_key`: a key
 * that is kept on the record which it made.
 */
export const rememberedKinds = ['payment', 'key', 'record_key', 'attempt', 'seal'] as const
export type RememberedKind = (typeof rememberedKinds)[number]

export type RememberedLine = { kind: RememberedKind; id: string; at: Date }

/**
 * The newest of what was committed, as this process was told. A database commits in one order, so as long as the newest of it is there,
 * everything before it is there too.
 */
export type Remembered = {
  note: (kind: RememberedKind, ids: readonly string[]) => void
  has: (kind: RememberedKind, id: string) => boolean
  newest: (kind: RememberedKind) => string[]
  isEmpty: () => boolean
  /** From another process's life: not passed to `onNote`. */
  load: (lines: readonly RememberedLine[]) => void
  onNote: (listener: (lines: readonly RememberedLine[]) => void) => void
  forget: () => void
}

const mostOfKind = 2_000
/** Younger than everything that a retention removes: idempotency keys are kept for at least a day. */
const forgetAfterMs = 12 * 3_600_000

export const createRemembered = (clock: Clock): Remembered => {
  const kinds = new Map(rememberedKinds.map((kind) => [kind, new Map<string, number>()]))
  const listeners: ((lines: readonly RememberedLine[]) => void)[] = []
  const keep = (kind: RememberedKind, id: string, atMs: number) => {
    const known = kinds.get(kind)
    if (!known) return
    known.delete(id)
    known.set(id, atMs)
    if (known.size <= mostOfKind) return
    for (const oldest of known.keys()) {
      known.delete(oldest)
      break
    }
  }
  const isFresh = (atMs: number | undefined): boolean => atMs !== undefined && clock.now().getTime() - atMs < forgetAfterMs
  return {
    note: (kind, ids) => {
      const at = clock.now()
      for (const id of ids) keep(kind, id, at.getTime())
      const lines = ids.map((id) => ({ kind, id, at }))
      for (const listener of listeners) listener(lines)
    },
    has: (kind, id) => isFresh(kinds.get(kind)?.get(id)),
    newest: (kind) => [...(kinds.get(kind) ?? [])].filter(([, atMs]) => isFresh(atMs)).map(([id]) => id),
    isEmpty: () => [...kinds.values()].every(({ size }) => size === 0),
    load: (lines) => {
      for (const { kind, id, at } of lines) keep(kind, id, at.getTime())
    },
    onNote: (listener) => void listeners.push(listener),
    forget: () => {
      for (const known of kinds.values()) known.clear()
    },
  }
}
