export type Task = () => Promise<void>

/** What happens later at the provider: results, late deliveries. Injected, so that a test decides when "later" is. */
export type Scheduler = { after: (ms: number, task: Task) => void; close: () => void }

/** Real time. Its timers don't keep the process alive: a result that is due after the end is a lost delivery, as in life. */
export const createTimerScheduler = (): Scheduler => {
  const timers = new Set<NodeJS.Timeout>()
  return {
    after: (ms, task) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        void task()
      }, ms)
      timer.unref()
      timers.add(timer)
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}

export type ManualScheduler = Scheduler & {
  /** Lets `advanceMs` pass and runs, in order, all that falls due, what those tasks schedule included; waits for each. */
  runDue: (advanceMs?: number) => Promise<void>
  /** Runs until nothing is left, however late. */
  runAll: () => Promise<void>
  pending: () => number
}

/** Time that passes only when a test says so: no sleeps, and every delivery has been answered when the call returns. */
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
