import type { Clock } from '../lib/clock.ts'

/** `audit`: `account:row`, an audit row per recent commit. `sent`: attempts. `seal`: `number:hash`. `key`: keys' scopes. */
export const recoveryPointKinds = ['audit', 'sent', 'seal', 'key'] as const
export type RecoveryPointKind = (typeof recoveryPointKinds)[number]

/**
 * How many of each kind are kept. A database commits in order: if the newest exists, so does everything before it. Attempts and
 * keys are kept longer, because repeating a lost one pays twice.
 */
const most: Readonly<Record<RecoveryPointKind, number>> = { audit: 32, sent: 2_000, seal: 1, key: 2_000 }
/** Younger than everything that a retention removes. */
const forgetAfterMs = 12 * 3_600_000

export type Noted = { kind: RecoveryPointKind; id: string; atMs: number }

/** A server and its log position. In the recovery point: the position before the newest acknowledged commit. */
export type Place = { system: string; server: string; position: bigint }

export type Left = { place: Place | undefined; noted: readonly Noted[] }

export type RecoveryPointFile = {
  left: readonly Left[]
  write: (place: Place | undefined, noted: readonly Noted[]) => void
  /** A person has reconciled: older entries are no longer checked. */
  forget: (atMs: number) => void
}

/** The newest writes that the database acknowledged to this process. A server must have them before it is trusted. */
export type RecoveryPoint = ReturnType<typeof createRecoveryPoint>

export const createRecoveryPoint = (clock: Clock) => {
  const nowMs = () => clock.now().getTime()
  const kinds: Record<RecoveryPointKind, Map<string, Noted>> = {
    audit: new Map(),
    sent: new Map(),
    seal: new Map(),
    key: new Map(),
  }
  let place: Place | undefined
  let reached = 0n
  let file: RecoveryPointFile | undefined

  const keep = (noted: Noted) => {
    const known = kinds[noted.kind]
    known.delete(noted.id)
    known.set(noted.id, noted)
    const [oldest] = known.keys()
    if (known.size > most[noted.kind] && oldest !== undefined) known.delete(oldest)
  }
  const isFresh = (noted: Noted | undefined): boolean => noted !== undefined && nowMs() - noted.atMs < forgetAfterMs
  const write = () => file?.write(place, [...kinds.audit.values(), ...kinds.seal.values()])

  return {
    newest: (kind: RecoveryPointKind): string[] => [...kinds[kind].values()].filter(isFresh).map(({ id }) => id),
    has: (kind: RecoveryPointKind, id: string): boolean => isFresh(kinds[kind].get(id)),
    /** `position`: the value of `reached` before the noted work began. */
    note: (kind: RecoveryPointKind, ids: readonly string[], position = 0n): void => {
      const atMs = nowMs()
      for (const id of ids) keep({ kind, id, atMs })
      if (place && position > place.position) place = { ...place, position }
      if (kind === 'audit' || kind === 'seal') write()
    },
    place: () => place,
    /** The log position of the trusted server: every later commit is behind it. */
    seen: (position: bigint): void => {
      reached = position
    },
    reached: (): bigint => reached,
    trust: (trusted: Place): void => {
      place = { ...trusted, position: place?.system === trusted.system ? place.position : 0n }
      reached = 0n
      write()
    },
    loadFrom: (given: RecoveryPointFile): void => {
      file = given
      const all = given.left.flatMap(({ noted }) => noted).sort((one, other) => one.atMs - other.atMs)
      for (const one of all) keep(one)
      for (const { place: left } of given.left)
        if (left && (place?.system !== left.system || left.position > place.position)) place = left
    },
    forget: (): void => {
      for (const known of Object.values(kinds)) known.clear()
      place = undefined
      file?.forget(nowMs())
    },
  }
}
