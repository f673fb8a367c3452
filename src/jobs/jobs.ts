import type { Logger } from 'pino'
import { type Database, emitAfterCommit, onSignal, signal, statement, type Tx } from '../db/client.ts'
import { describeError } from '../db/errors.ts'
import { fieldsOf } from '../lib/lists.ts'
import type { AnyRail } from '../lib/rail-names.ts'
import { createWorkerRunner, type Worker, type WorkerRunner } from './worker.ts'

/** One kind can have several workers. Payments have one per rail. */
type WorkKind = 'payments' | 'topups' | 'deliveries' | 'names' | 'notices' | 'mails'

/** Must be idempotent and have no effect if nothing is due. May return the number of rows processed. */
export type Sweep = { name: string; everySeconds: number; run: () => Promise<unknown> }

/** `rows`: undefined if the sweep does not count rows. */
export type Swept = { name: string; seconds: number; rows: number | undefined }

export type Work = {
  workers: Readonly<Record<WorkKind, readonly Worker[]>>
  sweeps: readonly Sweep[]
  onFailure: (worker: string, key: string, failures: number) => void
  onSweepFailure: (sweep: string, failures: number) => void
}

type Wake = { rails?: readonly AnyRail[]; dueIds?: readonly string[] }
const dueCommitted = signal<{ kind: WorkKind } & Wake>('work')

/** With `rails`, wakes only the workers of these rails. `dueIds`: the rows that became due, as in a worker's `wake`. */
export const wakeAfterCommit = (tx: Tx, kind: WorkKind, wake: Wake = {}): void =>
  emitAfterCommit(tx, dueCommitted, { kind, ...wake })

const announceSchedules = statement('schedules.announce')`
  insert into schedules (name, every_seconds, next_run_at) select *, now() from unnest($1::text[], $2::int[])
   on conflict (name) do update set every_seconds = excluded.every_seconds,
     next_run_at = least(schedules.next_run_at, now() + make_interval(secs => excluded.every_seconds))`
/** Uses the database's clock. The process that advances the time of the next run performs this run. */
const claimSchedules = statement('schedules.take')`
  update schedules set next_run_at = now() + make_interval(secs => every_seconds)
   where name in (select name from schedules where name = any($1::text[]) and next_run_at <= now() for update skip locked)
   returning name`

export type Jobs = ReturnType<typeof createJobs>

type JobsOptions = { db: Database; mode: 'inline' | 'off'; logger: Logger; onSwept: ((swept: Swept) => void) | undefined }

export const createJobs = ({ db, mode, logger, onSwept }: JobsOptions) => {
  const runners = new Map<string, WorkerRunner[]>()
  let sweeps: readonly Sweep[] = []
  let sweepRunner: WorkerRunner | undefined
  const allRunners = (): WorkerRunner[] => [...runners.values()].flat()

  const taskOf = ({ name, run }: Sweep) => ({
    key: name,
    tenant: name,
    run: async () => {
      const start = performance.now()
      const rows = await run()
      onSwept?.({ name, seconds: (performance.now() - start) / 1000, rows: typeof rows === 'number' ? rows : undefined })
    },
  })
  /** If a process crashes during a sweep, the next run does the remaining work. */
  const claimSweeps: Worker['claim'] = async ({ except }) => {
    const idle = sweeps.filter(({ name }) => !except.includes(name))
    const taken = await db.query<{ name: string }>(claimSchedules, [idle.map(({ name }) => name)])
    return { tasks: idle.filter(({ name }) => taken.some((one) => one.name === name)).map(taskOf), more: false }
  }

  /** Losing a call only delays the work by a second. */
  const wake = (kind: WorkKind, { rails, dueIds }: Wake = {}): void => {
    for (const runner of runners.get(kind) ?? []) runner.wake(rails, dueIds)
  }
  onSignal(db, dueCommitted, ({ kind, ...rest }) => wake(kind, rest))

  return {
    wake,
    start: async (work: Work): Promise<void> => {
      const runnerOf = (worker: Worker) =>
        createWorkerRunner({
          worker,
          logger,
          onFailure: (key, failures, error) => {
            logger.error({ worker: worker.name, key, failures, ...describeError(error) }, 'work failed; it will be retried')
            work.onFailure(worker.name, key, failures)
          },
        })
      for (const [kind, workers] of Object.entries(work.workers)) runners.set(kind, workers.map(runnerOf))
      sweeps = work.sweeps
      sweepRunner = createWorkerRunner({
        worker: { name: 'sweeps', limit: sweeps.length, claim: claimSweeps },
        logger,
        // A failed sweep runs again at its next scheduled time.
        longestPauseMs: 0,
        onFailure: (sweep, failures, error) => {
          logger.error({ sweep, failures, ...describeError(error) }, 'a sweep failed')
          work.onSweepFailure(sweep, failures)
        },
      })
      if (mode === 'off') return
      await db.query(announceSchedules, fieldsOf(sweeps, 'name', 'everySeconds'))
      for (const runner of [sweepRunner, ...allRunners()]) runner.start()
    },
    /** For tests and commands: runs all due work and returns its number of rows. If a worker fails, the others continue. */
    drain: async (): Promise<number> => {
      let count = 0
      const failed = new Map<WorkerRunner, unknown>()
      for (let more = true; more; ) {
        const before = count
        for (const runner of allRunners().filter((each) => !failed.has(each)))
          try {
            count += await runner.drain()
          } catch (error) {
            failed.set(runner, error)
          }
        more = count > before
      }
      for (const error of failed.values()) throw error
      return count
    },
    /** Runs each sweep once, now. If a sweep fails, the others still run before the failure is thrown. */
    sweep: async (): Promise<void> => {
      const failures: unknown[] = []
      for (const sweep of sweeps) failures.push(await sweepRunner?.attempt(taskOf(sweep)))
      for (const failure of failures) if (failure !== undefined) throw failure
    },
    stop: async (): Promise<void> => {
      await Promise.all([sweepRunner, ...allRunners()].map((runner) => runner?.stop()))
    },
  }
}
