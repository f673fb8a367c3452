/** Where the service gets its time from, so that a test can decide it. */
export type Clock = { now: () => Date }

export const systemClock: Clock = { now: () => new Date() }

export const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000)
export const daysAfter = (from: Date, days: number): Date => secondsAfter(from, days * 86_400)
