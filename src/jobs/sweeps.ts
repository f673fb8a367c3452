import type { Logger } from 'pino'
import { type Db, statement } from '../db/client.ts'
import { describeError } from '../db/errors.ts'

/** Finds what is due and does it; idempotent, and harmless when nothing is due. May answer how many rows that were. */
export type Sweep = { name: string; everySeconds: number; run: () => Promise<unknown> }

/** A sweep that has ended. `rows`: undefined where it does not count them. */
export type Swept = { name: string; seconds: number; rows: number | undefined }

const announce = statement(
  'schedules.announce',
  `insert into schedules (name, every_seconds, next_run_at) select *, now() from unnest($1::text[], $2::int[])
   on conflict (name) do update set every_seconds = excluded.every_seconds,
     next_run_at = least(schedules.next_run_at, now() + make_interval(secs => excluded.every_seconds))`,
)
/**
 * By the database's clock, so processes need not agree about the time. The process that moves the time of the next run has this run for
 * itself.
 */
const take = statement(
  'schedules.take',
  `update schedules set next_run_at = now() + make_interval(secs => every_seconds)
   where name in (select name from schedules where name = any($1::text[]) and next_run_at <= now() for update skip locked)
   returning name`,
)

const lookEveryMs = 1_000

export type SweepRunner = { start: () => Promise<void>; runAll: () => Promise<void>; stop: () => Promise<void> }

/** Runs each sweep once every `everySeconds` over all processes. When a process dies in a sweep, the next run does its work. */
export const createSweepRunner = (
  db: Db,
  sweeps: readonly Sweep[],
  logger: Logger,
  /** Called with every failure, and how often this sweep has failed in succession. */
  onFailure: (name: string, failures: number) => void,
  onSwept: (swept: Swept) => void,
): SweepRunner => {
  const running = new Map<string, Promise<void>>()
  const failures = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined

  const run = async ({ name, run: work }: Sweep): Promise<void> => {
    const start = performance.now()
    try {
      const rows = await work()
      failures.delete(name)
      onSwept({ name, seconds: (performance.now() - start) / 1000, rows: typeof rows === 'number' ? rows : undefined })
    } catch (error) {
      const count = (failures.get(name) ?? 0) + 1
      failures.set(name, count)
      logger.error({ sweep: name, failures: count, ...describeError(error) }, 'a sweep failed')
      onFailure(name, count)
      throw error
    }
  }

  const poll = async (): Promise<void> => {
    const idle = sweeps.filter(({ name }) => !running.has(name))
    if (idle.length === 0) return
    try {
      const taken = new Set((await db.query<{ name: string }>(take, [idle.map(({ name }) => name)])).map(({ name }) => name))
      for (const sweep of idle) {
        if (taken.has(sweep.name))
          running.set(
            sweep.name,
            run(sweep)
              .catch(() => undefined)
              .finally(() => running.delete(sweep.name)),
          )
      }
    } catch (error) {
      logger.warn(describeError(error), 'the schedule could not be read')
    }
  }

  return {
    start: async () => {
      await db.query(announce, [sweeps.map(({ name }) => name), sweeps.map(({ everySeconds }) => everySeconds)])
      timer = setInterval(() => {
        polling ??= poll().finally(() => {
          polling = undefined
        })
      }, lookEveryMs).unref()
    },
    runAll: async () => {
      const failed: unknown[] = []
      for (const sweep of sweeps) await run(sweep).catch((error: unknown) => failed.push(error))
      if (failed.length > 0) throw failed[0]
    },
    stop: async () => {
      clearInterval(timer)
      await polling
      await Promise.race([Promise.all(running.values()), new Promise((resolve) => setTimeout(resolve, 3_000).unref())])
    },
  }
}
