import type { Clock } from '../lib/clock.ts'

/** `audit`: `account:row`, one audit row per recent commit. `sent`: attempt ids. `seal`: `number:hash`. `key`: scopes of keys. */
export const recoveryPointKinds = ['audit', 'sent', 'seal', 'key'] as const
export type RecoveryPointKind = (typeof recoveryPointKinds)[number]

/**
 * Maximum number of remembered writes of each kind. A database commits in order: if the newest write exists, so do all earlier
 * ones. More attempts and keys are remembered, because repeating a lost one pays twice.
 */
const maxRemembered: Readonly<Record<RecoveryPointKind, number>> = { audit: 32, sent: 2_000, seal: 1, key: 2_000 }
/** Shorter than any retention period, so that a deleted row never looks like a lost write. */
const forgetAfterMs = 12 * 3_600_000

export type TrackedWrite = { kind: RecoveryPointKind; id: string; atMs: number }

/** A server and its WAL position. In the recovery point: the position before the newest acknowledged commit. */
export type ServerPosition = { system: string; server: string; position: bigint }

export type SavedRecoveryPoint = { serverPosition: ServerPosition | undefined; writes: readonly TrackedWrite[] }

export type RecoveryPointFile = {
  saved: readonly SavedRecoveryPoint[]
  /** `writes`: the oldest first. The file may leave out the oldest ones. */
  write: (serverPosition: ServerPosition | undefined, writes: readonly TrackedWrite[]) => void
  /** Called when an operator has reconciled: older entries are no longer checked. */
  forget: (atMs: number) => void
}

/** The newest writes that the database acknowledged to this process. A server must have them to be trusted. */
export type RecoveryPoint = ReturnType<typeof createRecoveryPoint>

export const createRecoveryPoint = (clock: Clock) => {
  const nowMs = () => clock.now().getTime()
  const writesOf = () => new Map<string, TrackedWrite>()
  const kinds = { audit: writesOf(), sent: writesOf(), seal: writesOf(), key: writesOf() }
  let serverPosition: ServerPosition | undefined
  let reached = 0n
  let file: RecoveryPointFile | undefined

  const remember = (tracked: TrackedWrite) => {
    const known = kinds[tracked.kind]
    known.delete(tracked.id)
    known.set(tracked.id, tracked)
    const [oldest] = known.keys()
    if (known.size > maxRemembered[tracked.kind] && oldest !== undefined) known.delete(oldest)
  }
  const isFresh = (tracked: TrackedWrite | undefined): boolean => tracked !== undefined && nowMs() - tracked.atMs < forgetAfterMs
  const write = () => file?.write(serverPosition, [...kinds.audit.values(), ...kinds.seal.values()])

  return {
    newest: (kind: RecoveryPointKind): string[] => [...kinds[kind].values()].filter(isFresh).map(({ id }) => id),
    has: (kind: RecoveryPointKind, id: string): boolean => isFresh(kinds[kind].get(id)),
    /** `position`: the value of `reached` before the tracked work began. */
    track: (kind: RecoveryPointKind, ids: readonly string[], position = 0n): void => {
      const atMs = nowMs()
      for (const id of ids) remember({ kind, id, atMs })
      if (serverPosition && position > serverPosition.position) serverPosition = { ...serverPosition, position }
      if (kind === 'audit' || kind === 'seal') write()
    },
    serverPosition: () => serverPosition,
    /** Sets the WAL position of the trusted server. All later commits have higher positions. */
    advance: (position: bigint): void => {
      reached = position
    },
    reached: (): bigint => reached,
    trust: (trusted: ServerPosition): void => {
      serverPosition = { ...trusted, position: serverPosition?.system === trusted.system ? serverPosition.position : 0n }
      reached = 0n
      write()
    },
    loadFrom: (given: RecoveryPointFile): void => {
      file = given
      const all = given.saved.flatMap(({ writes }) => writes).sort((one, other) => one.atMs - other.atMs)
      for (const one of all) remember(one)
      for (const { serverPosition: position } of given.saved)
        if (position && (serverPosition?.system !== position.system || position.position > serverPosition.position))
          serverPosition = position
    },
    /** Forgets the writes from before a loss that an operator has reconciled. Later ones can still prove a later loss. */
    forgetUntil: (atMs: number): void => {
      let isChanged = false
      for (const known of Object.values(kinds)) for (const [id, one] of known) if (one.atMs <= atMs) isChanged = known.delete(id)
      if (!isChanged) return
      // Every commit is remembered with an audit row, so without one the position is from before the loss too.
      if (kinds.audit.size === 0) serverPosition = undefined
      file?.forget(atMs)
      write()
    },
    forget: (): void => {
      for (const known of Object.values(kinds)) known.clear()
      serverPosition = undefined
      file?.forget(nowMs())
    },
  }
}
