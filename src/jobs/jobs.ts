import type { Logger } from 'pino'
import { type Database, onSignal, signal, type Tx, tellAfterCommit } from '../db/client.ts'
import type { AnyRail } from '../lib/rail-names.ts'
import { createLaneRunner, type Lane, type LaneRunner } from './lane.ts'
import { createSweepRunner, type Sweep, type SweepRunner, type Swept } from './sweeps.ts'

/** The kinds of due work. One kind may have several lanes: payments have one for each rail. */
export const workKinds = ['payments', 'topups', 'deliveries', 'names', 'notices'] as const
export type WorkKind = (typeof workKinds)[number]

export type Work = {
  lanes: Readonly<Record<WorkKind, readonly Lane[]>>
  sweeps: readonly Sweep[]
  onFailure: (lane: string, key: string, failures: number) => void
  onSweepFailure: (sweep: string, failures: number) => void
}

type Wake = { rails?: readonly AnyRail[]; own?: readonly string[] }
const dueCommitted = signal<{ kind: WorkKind } & Wake>('work')

/** What becomes due with this commit begins at once. With `rails`, only the lanes of these rails look for it; `own`: as the lanes' `wake`. */
export const wakeAfterCommit = (tx: Tx, kind: WorkKind, wake: Wake = {}): void =>
  tellAfterCommit(tx, dueCommitted, { kind, ...wake })

export type Jobs = {
  /**
   * Called when there is due work: it begins at once instead of at the next poll. A lost call costs a second. With `rails`, only the lanes of
   * these rails look for it; `own`: as the lanes' `wake`.
   */
  wake: (kind: WorkKind, wake?: Wake) => void
  start: (work: Work) => Promise<void>
  /** Does everything that is due now, then returns how much that was: for tests and for commands. */
  drain: () => Promise<number>
  /** Runs every sweep once, now. A failure does not stop the other sweeps, and is thrown at the end. */
  sweep: () => Promise<void>
  stop: () => Promise<void>
}

const pollMs = 1_000
const finishWithinMs = 4_000

type JobsOptions = { db: Database; mode: 'inline' | 'off'; logger: Logger; onSwept?: (swept: Swept) => void }

export const createJobs = ({ db, mode, logger, onSwept = () => undefined }: JobsOptions): Jobs => {
  const runners = new Map<WorkKind, LaneRunner[]>()
  let sweeps: SweepRunner | undefined
  const all = (): LaneRunner[] => [...runners.values()].flat()

  const wake: Jobs['wake'] = (kind, { rails, own } = {}) => {
    for (const runner of runners.get(kind) ?? []) runner.wake(rails, own)
  }
  onSignal(db, dueCommitted, ({ kind, ...rest }) => wake(kind, rest))

  return {
    wake,
    start: async (work) => {
      for (const kind of workKinds) {
        const { onFailure } = work
        runners.set(
          kind,
          work.lanes[kind].map((lane) => createLaneRunner({ lane, logger, pollMs, onFailure })),
        )
      }
      sweeps = createSweepRunner(db, work.sweeps, logger, work.onSweepFailure, onSwept)
      if (mode === 'off') return
      await sweeps.start()
      for (const runner of all()) runner.start()
    },
    drain: async () => {
      let count = 0
      for (let more = true; more; ) {
        let round = 0
        for (const runner of all()) round += await runner.drain()
        count += round
        more = round > 0
      }
      return count
    },
    sweep: async () => {
      await sweeps?.runAll()
    },
    stop: async () => {
      await Promise.all([sweeps?.stop(), ...all().map((runner) => runner.stop(finishWithinMs))])
    },
  }
}
