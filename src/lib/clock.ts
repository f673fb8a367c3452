/** Where the service gets its time from, so that a test can decide it. */
export type Clock = { now: () => Date }

export const systemClock: Clock = { now: () => new Date() }

export type MovableClock = Clock & { offsetMs: () => number; moveTo: (offsetMs: number) => void }

/** The system's time and an offset: for a sandbox that is moved to a later day. Never for real money. */
export const createMovableClock = (): MovableClock => {
  let offset = 0
  return {
    now: () => new Date(Date.now() + offset),
    offsetMs: () => offset,
    moveTo: (offsetMs) => {
      offset = offsetMs
    },
  }
}

export const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000)
export const daysAfter = (from: Date, days: number): Date => secondsAfter(from, days * 86_400)

/** The first of two moments, where the second may be never. */
export const earlier = (a: Date, b: Date | null): Date => (b !== null && b < a ? b : a)
