/** The source of time, so that a test can set it. */
export type Clock = {
  now: () => Date
  /** A pause of this clock; without it nothing waits. */
  sleep?: (ms: number) => Promise<void>
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const systemClock: Clock = { now: () => new Date(), sleep }

export type MovableClock = Clock & { offsetMs: () => number; moveTo: (offsetMs: number) => void }

/** The system's time plus an offset: for a sandbox that is moved to a later day. Never for real money. */
export const createMovableClock = (): MovableClock => {
  let offset = 0
  return {
    now: () => new Date(Date.now() + offset),
    sleep,
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
