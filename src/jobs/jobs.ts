import type { Logger } from 'pino'
import { type Database, onSignal, signal, type Tx, tellAfterCommit } from '../db/client.ts'
import { describeError } from '../db/errors.ts'
import type { AnyRail } from '../lib/rail-names.ts'
import { createLaneRunner, type Lane, type LaneRunner } from './lane.ts'
import { announceSweeps, type Sweep, type Swept, sweepsLane, sweepTask } from './sweeps.ts'

/** The kinds of due work. One kind may have several lanes: payments have one for each rail. */
type WorkKind = 'payments' | 'topups' | 'deliveries' | 'names' | 'notices'

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

export type Jobs = ReturnType<typeof createJobs>

const pollMs = 1_000
const finishWithinMs = 4_000

type JobsOptions = { db: Database; mode: 'inline' | 'off'; logger: Logger; onSwept?: (swept: Swept) => void }

export const createJobs = ({ db, mode, logger, onSwept = () => undefined }: JobsOptions) => {
  const runners = new Map<string, LaneRunner[]>()
  let sweeps: readonly Sweep[] = []
  let sweepRunner: LaneRunner | undefined
  const all = (): LaneRunner[] => [...runners.values()].flat()

  /**
   * Called when there is due work: it begins at once instead of at the next poll. A lost call costs a second. With `rails`, only the lanes of
   * these rails look for it; `own`: as the lanes' `wake`.
   */
  const wake = (kind: WorkKind, { rails, own }: Wake = {}): void => {
    for (const runner of runners.get(kind) ?? []) runner.wake(rails, own)
  }
  onSignal(db, dueCommitted, ({ kind, ...rest }) => wake(kind, rest))

  return {
    wake,
    start: async (work: Work): Promise<void> => {
      const runnerOf = (lane: Lane) =>
        createLaneRunner({
          lane,
          logger,
          pollMs,
          onFailure: (key, failures, error) => {
            logger.error({ lane: lane.name, key, failures, ...describeError(error) }, 'work failed and will be tried again')
            work.onFailure(lane.name, key, failures)
          },
        })
      for (const [kind, lanes] of Object.entries(work.lanes)) runners.set(kind, lanes.map(runnerOf))
      sweeps = work.sweeps
      sweepRunner = createLaneRunner({
        lane: sweepsLane(db, sweeps, onSwept),
        logger,
        pollMs,
        // It is due again at its next time.
        longestPauseMs: 0,
        onFailure: (sweep, failures, error) => {
          logger.error({ sweep, failures, ...describeError(error) }, 'a sweep failed')
          work.onSweepFailure(sweep, failures)
        },
      })
      if (mode === 'off') return
      await announceSweeps(db, sweeps)
      for (const runner of [sweepRunner, ...all()]) runner.start()
    },
    /** Does everything that is due now, then returns how much that was: for tests and for commands. */
    drain: async (): Promise<number> => {
      let count = 0
      for (let more = true; more; ) {
        let round = 0
        for (const runner of all()) round += await runner.drain()
        count += round
        more = round > 0
      }
      return count
    },
    /** Runs every sweep once, now. A failure does not stop the other sweeps, and is thrown at the end. */
    sweep: async (): Promise<void> => {
      const failures: unknown[] = []
      for (const sweep of sweeps) failures.push(await sweepRunner?.attempt(sweepTask(sweep, onSwept)))
      for (const failure of failures) if (failure !== undefined) throw failure
    },
    stop: async (): Promise<void> => {
      await Promise.all([sweepRunner, ...all()].map((runner) => runner?.stop(finishWithinMs)))
    },
  }
}
