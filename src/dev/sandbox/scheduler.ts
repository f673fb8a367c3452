import { z } from 'zod'
import type { MovableClock } from '../../lib/clock.ts'
import { keepDocument } from './store.ts'

const Ahead = z.object({ offset_ms: z.number() })
const keptOffset = (folder: string | undefined) => keepDocument(folder, 'clock.json', Ahead, { offset_ms: 0 })

/** How far the clock of this folder's sandbox is ahead. */
export const storedOffsetMs = (folder: string): number => keptOffset(folder).read().offset_ms

/** The sandbox's time, stored with its money so that it does not go back after a restart. */
export const createSandboxTime = (
  clock: MovableClock,
  scheduler: { advance: (ms: number) => void },
  folder: string | undefined,
) => {
  const kept = keptOffset(folder)
  if (folder !== undefined) clock.moveTo(kept.read().offset_ms)
  return {
    offsetMs: clock.offsetMs,
    /** Returns how far the sandbox is ahead of the system clock, in milliseconds. */
    advance: (seconds: number): number => {
      const offset = clock.offsetMs() + seconds * 1000
      clock.moveTo(offset)
      kept.write({ offset_ms: offset })
      scheduler.advance(seconds * 1000)
      return offset
    },
  }
}

export type MoveTime = ReturnType<typeof createSandboxTime>

export type Task = () => Promise<void>

/** Schedules later events at the provider, such as results and late callbacks. Injected, so that tests control the time. */
export type Scheduler = { after: (ms: number, task: Task) => void; close: () => void }

/** Uses real time, which a test may advance: due tasks then run at once. The timers do not keep the process alive. */
export const createTimerScheduler = (): Scheduler & { advance: (ms: number) => void } => {
  const entries = new Set<{ dueMs: number; task: Task; timer: NodeJS.Timeout }>()
  let skippedMs = 0
  const nowMs = () => performance.now() + skippedMs
  const arm = (dueMs: number, task: Task) => {
    const timer = setTimeout(
      () => {
        entries.delete(entry)
        void task()
      },
      Math.max(0, dueMs - nowMs()),
    )
    timer.unref()
    const entry = { dueMs, task, timer }
    entries.add(entry)
  }
  return {
    after: (ms, task) => arm(nowMs() + ms, task),
    advance: (ms) => {
      skippedMs += ms
      const waiting = [...entries]
      entries.clear()
      for (const { dueMs, task, timer } of waiting.sort((a, b) => a.dueMs - b.dueMs)) {
        clearTimeout(timer)
        arm(dueMs, task)
      }
    },
    close: () => {
      for (const { timer } of entries) clearTimeout(timer)
      entries.clear()
    },
  }
}
