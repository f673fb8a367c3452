/** The source of time, so that a test can set it. */
export type Clock = {
  now: () => Date
  /** A pause of this clock; without it nothing waits. */
  sleep?: (ms: number) => Promise<void>
  /** Takes over the database's time where this one differs. Answers by how much the machine's clock does, in milliseconds. */
  follow?: (databaseNow: Date) => number
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const systemClock: Clock = { now: () => new Date(), sleep }

export type MovableClock = Clock & { offsetMs: () => number; moveTo: (offsetMs: number) => void }

/** Closer, it may be the way of the answer. */
const sameWithinMs = 250

/**
 * The time of the service: by it all processes write and compare what is due, so it is the database's. It begins as the system's, and runs on by
 * whatever has gone further since it was last set: the time since then, also where the system's clock is set back, or the system's clock, also where
 * the machine was asleep. Plus an offset, for a sandbox that is moved to a later day; never for real money.
 */
export const createMovableClock = (system: () => number = Date.now): MovableClock => {
  let offset = 0
  let set = { ms: system(), system: system(), running: performance.now() }
  const nowMs = () => set.ms + Math.max(performance.now() - set.running, system() - set.system)
  return {
    now: () => new Date(nowMs() + offset),
    sleep,
    follow: (databaseNow) => {
      const ms = databaseNow.getTime()
      if (Math.abs(nowMs() - ms) > sameWithinMs) set = { ms, system: system(), running: performance.now() }
      return system() - ms
    },
    offsetMs: () => offset,
    moveTo: (offsetMs) => {
      offset = offsetMs
    },
  }
}

export const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000)
export const daysAfter = (from: Date, days: number): Date => secondsAfter(from, days * 86_400)

/** The first midnight (UTC) that is not before. */
export const endOfDay = (time: Date): Date => new Date(Math.ceil(time.getTime() / 86_400_000) * 86_400_000)

/** The earlier of two moments; the second may be null for never. */
export const earlier = (a: Date, b: Date | null): Date => (b !== null && b < a ? b : a)

/** What one transaction writes has one instant, and each of its records shows it several times. */
let last = { ms: Number.NaN, text: '' }

/** RFC 3339 in UTC with milliseconds: every time on the wire. */
export const isoTime = (time: Date): string => {
  const ms = time.getTime()
  if (ms !== last.ms) last = { ms, text: time.toISOString() }
  return last.text
}
export const isoTimeOrNull = (time: Date | null): string | null => (time ? time.toISOString() : null)

const dayMs = 86_400_000

/** The date that is so many days later. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

/** The last `count` dates up to and including `today`, oldest first. Plain calendar dates: no clock and no time zone is needed. */
export const lastDays = (today: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => dateAfter(today, index + 1 - count))
