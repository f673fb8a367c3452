import type { Clock } from '../../src/lib/clock.ts'

export type TestClock = Clock & { advance: (seconds: number) => void; set: (time: Date) => void }

/** A clock that only a test moves. */
export const createTestClock = (start = new Date('2026-03-04T09:00:00.000Z')): TestClock => {
  let current = start
  return {
    now: () => current,
    advance: (seconds) => {
      current = new Date(current.getTime() + seconds * 1000)
    },
    set: (time) => {
      current = time
    },
  }
}
