import type { Logger } from 'pino'
import { describeError } from '../db/errors.ts'
import type { AnyRail } from '../lib/rail-names.ts'

/** `key`: the row's id. `tenant`: the row's owner. */
export type Task = { key: string; tenant: string; run: () => Promise<void> }

/**
 * Limits for a claim. `except`: rows being processed here, or that just failed. `full`: tenants without capacity. `dueHere`: rows
 * that this process just made due; other rows are left to other processes for `othersAfterSeconds`. Default: all rows.
 */
export type Capacity = {
  free: number
  ofTenant: (tenant: string) => number
  except: readonly string[]
  full: readonly string[]
  dueHere?: readonly string[]
}

export const othersAfterSeconds = 1
/** Limited, because each due row is compared with all of these. */
const maxDueHere = 512

/** `more`: further work is due, but exceeded the capacity. `failed`: errors by row for rows that could not be claimed. */
export type Claimed = { tasks: readonly Task[]; more: boolean; failed?: ReadonlyMap<string, unknown> }

/** A worker, independent of the others. `limit`: its concurrent tasks in this process. `rail`: the only rail that it serves. */
export type Worker = { name: string; rail?: AnyRail; limit: number; claim: (capacity: Capacity) => Promise<Claimed> }

const pollMs = 1_000
const finishWithinMs = 4_000

export type WorkerRunner = ReturnType<typeof createWorkerRunner>

type WorkerOptions = {
  worker: Worker
  logger: Logger
  /** Maximum pause before a failed row is retried. */
  longestPauseMs?: number
  /** `failures`: number of consecutive failures of this row. */
  onFailure: (key: string, failures: number, error: unknown) => void
}

export const createWorkerRunner = ({ worker, logger, longestPauseMs = 60_000, onFailure }: WorkerOptions) => {
  const underWay = new Map<string, { tenant: string; done: Promise<unknown> }>()
  const failed = new Map<string, { failures: number; until: number }>()
  /** A row that still fails does so again after its pause or lease, of at most five minutes. Any other was processed elsewhere. */
  const backingOff = (): string[] => {
    const now = performance.now()
    for (const [key, { until }] of failed) if (longestPauseMs > 0 && until + 15 * longestPauseMs < now) failed.delete(key)
    return [...failed].flatMap(([key, { until }]) => (until > now ? [key] : []))
  }
  let woken = false
  let stopped = false
  let needsCapacity = false
  let dueHere: readonly string[] = []
  let dueHereUntilMs = 0
  let resume: (() => void) | undefined
  let looping: Promise<void> | undefined

  /** `rails`: the rails with new work. `dueIds`: the rows made due, if known. Empty if another process made rows due. */
  const wake = (rails?: readonly AnyRail[], dueIds?: readonly string[]) => {
    if (rails && worker.rail && !rails.includes(worker.rail)) return
    if (dueIds === undefined) dueHereUntilMs = 0
    else if (dueIds.length > 0) {
      // A longer list is not used, so it does not grow while there is no capacity for a claim.
      if (dueHere.length <= maxDueHere) dueHere = [...dueHere, ...dueIds]
      dueHereUntilMs = performance.now() + othersAfterSeconds * 1000
    }
    woken = true
    resume?.()
  }

  const takenBy = (tenant: string): number => [...underWay.values()].filter((task) => task.tenant === tenant).length

  /** A tenant gets at most half of the capacity that the others leave, so that one more tenant can always start. */
  const capacityOf = (tenant: string): number => {
    const taken = takenBy(tenant)
    return Math.max(1, Math.floor((worker.limit - (underWay.size - taken)) / 2)) - taken
  }
  const capacity = (): Capacity => ({
    free: worker.limit - underWay.size,
    ofTenant: capacityOf,
    except: [...underWay.keys(), ...backingOff()],
    full: [...new Set([...underWay.values()].map(({ tenant }) => tenant))].filter((tenant) => capacityOf(tenant) < 1),
    ...(performance.now() < dueHereUntilMs && dueHere.length <= maxDueHere && { dueHere }),
  })

  const recordFailure = (key: string, error: unknown) => {
    const failures = (failed.get(key)?.failures ?? 0) + 1
    failed.set(key, { failures, until: performance.now() + Math.min(longestPauseMs, 500 * 2 ** failures) })
    onFailure(key, failures, error)
  }

  const attempt = async ({ key, run }: Pick<Task, 'key' | 'run'>): Promise<unknown> => {
    try {
      await run()
      failed.delete(key)
      return undefined
    } catch (error) {
      recordFailure(key, error)
      return error
    }
  }

  const begin = (task: Task) => {
    const done = attempt(task).finally(() => {
      underWay.delete(task.key)
      if (needsCapacity) wake(undefined, [])
    })
    underWay.set(task.key, { tenant: task.tenant, done })
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      resume = () => {
        clearTimeout(timer)
        resolve()
      }
    }).finally(() => {
      resume = undefined
    })

  const claimOnce = async (): Promise<boolean> => {
    if (underWay.size >= worker.limit) {
      needsCapacity = true
      return false
    }
    try {
      const room = capacity()
      dueHere = []
      const { tasks, more, failed: unclaimed = new Map<string, unknown>() } = await worker.claim(room)
      for (const [key, error] of unclaimed) recordFailure(key, error)
      needsCapacity = more
      const taken = new Set(tasks.map(({ key }) => key))
      // Rows for which there was no capacity.
      if (more && room.dueHere) dueHere = [...room.dueHere.filter((key) => !taken.has(key)), ...dueHere]
      for (const task of tasks) begin(task)
      return tasks.length > 0
    } catch (error) {
      if (!stopped) logger.warn({ worker: worker.name, ...describeError(error) }, 'due work could not be read')
      return false
    }
  }

  const loop = async () => {
    while (!stopped) {
      woken = false
      const again = await claimOnce()
      if (!again && !woken && !stopped) await pause(pollMs)
    }
  }

  return {
    start: () => {
      looping = loop()
    },
    wake,
    attempt,
    /** For tests and commands: runs all due work and returns its number of rows. Throws failures after all rows have run. */
    drain: async (): Promise<number> => {
      let count = 0
      const errors = new Map<string, unknown>()
      const unclaimable: string[] = []
      for (let more = true; more; ) {
        const { tasks, failed: unclaimed = new Map<string, unknown>() } = await worker.claim({
          free: worker.limit,
          ofTenant: () => worker.limit,
          except: [...errors.keys(), ...unclaimable],
          full: [],
        })
        for (const [key, error] of unclaimed) recordFailure(key, error)
        unclaimable.push(...unclaimed.keys())
        await Promise.all(tasks.map((task) => task.run().catch((error: unknown) => errors.set(task.key, error))))
        count += tasks.length
        more = tasks.length + unclaimed.size > 0
      }
      for (const error of errors.values()) throw error
      return count
    },
    /** Waits for running tasks, for at most `finishWithinMs`. */
    stop: async (): Promise<void> => {
      stopped = true
      wake()
      const finished = async () => {
        await looping
        await Promise.all([...underWay.values()].map(({ done }) => done))
      }
      await Promise.race([finished(), new Promise((resolve) => setTimeout(resolve, finishWithinMs).unref())])
    },
  }
}
