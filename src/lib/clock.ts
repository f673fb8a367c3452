export type Clock = {
  now: () => Date
  /** Waits by this clock. If missing, callers do not wait. */
  sleep?: (ms: number) => Promise<void>
  /** Called before the database is asked for its time. `adopt` returns how far the machine's clock is ahead, in milliseconds. */
  follow?: () => (databaseNow: Date) => number
}

const dayMs = 86_400_000

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const systemClock: Clock = { now: () => new Date(), sleep }

export type MovableClock = Clock & { offsetMs: () => number; moveTo: (offsetMs: number) => void }

/** Smaller differences are ignored, so that the time does not jump for nothing. */
const sameWithinMs = 250

const nearest = (ms: number, from: number, to: number): number => Math.min(Math.max(ms, from), to)

/**
 * The database's time, by which all processes decide what is due. Between updates, adds the elapsed time (the system clock may be
 * set back) or the system clock's advance (the machine may sleep). The offset is for sandboxes, never for real money.
 */
export const createMovableClock = (system: () => number = Date.now): MovableClock => {
  let offset = 0
  let base = { ms: system(), system: system(), running: performance.now() }
  const nowMs = () => base.ms + Math.max(performance.now() - base.running, system() - base.system)
  return {
    now: () => new Date(nowMs() + offset),
    sleep,
    follow: () => {
      const askedMs = nowMs()
      // The answer may have waited: since it was given, at most the time since the question has passed.
      return (databaseNow) => {
        const from = databaseNow.getTime()
        const to = from + nowMs() - askedMs
        const ms = nearest(nowMs(), from, to)
        if (Math.abs(nowMs() - ms) > sameWithinMs) base = { ms, system: system(), running: performance.now() }
        return system() - nearest(system(), from, to)
      }
    },
    offsetMs: () => offset,
    moveTo: (offsetMs) => {
      offset = offsetMs
    },
  }
}

export const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000)
export const daysAfter = (from: Date, days: number): Date => secondsAfter(from, days * 86_400)

/** The first midnight (UTC) at or after `time`. */
export const endOfDay = (time: Date): Date => new Date(Math.ceil(time.getTime() / dayMs) * dayMs)

/** The earlier of two times. Null means never. */
export const earlier = (a: Date, b: Date | null): Date => (b !== null && b < a ? b : a)

/** Formats a time as RFC 3339 in UTC, with milliseconds. */
export const isoTime = (time: Date): string => time.toISOString()
export const isoTimeOrNull = (time: Date | null): string | null => (time ? time.toISOString() : null)

export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

/** The last `count` dates up to and including `today`, oldest first. */
export const lastDays = (today: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => dateAfter(today, index + 1 - count))
