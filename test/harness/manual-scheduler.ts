import type { Scheduler, Task } from '../../src/dev/sandbox/scheduler.ts'

export type ManualScheduler = Scheduler & {
  /** Lets `advanceMs` pass and runs everything that becomes due, in order, including newly scheduled tasks. Waits for each. */
  runDue: (advanceMs?: number) => Promise<void>
  /** Runs until nothing is left, however late. */
  runAll: () => Promise<void>
  pending: () => number
}

/** Time that passes only on the test's command: no sleeps, and every delivery is answered when the call returns. */
export const createManualScheduler = (): ManualScheduler => {
  let nowMs = 0
  let queue: { dueMs: number; task: Task }[] = []

  const runUntil = async (limitMs: number): Promise<void> => {
    for (;;) {
      const next = queue.filter((entry) => entry.dueMs <= limitMs).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (!next) return
      queue = queue.filter((entry) => entry !== next)
      nowMs = Math.max(nowMs, next.dueMs)
      await next.task()
    }
  }

  return {
    after: (ms, task) => {
      queue.push({ dueMs: nowMs + ms, task })
    },
    close: () => {
      queue = []
    },
    pending: () => queue.length,
    runAll: () => runUntil(Number.POSITIVE_INFINITY),
    runDue: async (advanceMs = 0) => {
      const limitMs = nowMs + advanceMs
      await runUntil(limitMs)
      nowMs = Math.max(nowMs, limitMs)
    },
  }
}
