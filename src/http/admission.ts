/**
 * What is refused first under overload: reads and sign-in, then what moves money. What stops something or gives money back is never
 * refused.
 */
export type Rank = 'first' | 'last' | 'never'

export type AdmissionOptions = {
  /** The most requests under way at which one of this rank is still accepted. */
  most: Readonly<Record<'first' | 'last', number>>
  /** How long a request may have to wait for those before it, by estimate. */
  waitSeconds: Readonly<Record<'first' | 'last', number>>
}

export type Admission = {
  /** Whether a request may begin. Each one that may must call `leave` at its end. */
  enter: (rank: Rank) => boolean
  leave: () => void
  /** Called ten times a second, with the delay of the event loop: this measures how fast requests end. */
  tick: (lateMs: number) => void
  underWay: () => number
}

/** This many are always accepted, however slow everything is: with fewer, the rate at which requests end could not be measured. */
const always = { first: 64, last: 128 } as const
const smoothing = 0.3
/** With a delay this long, the event loop is what all requests wait for: only the last rank is accepted, and then nothing. */
const lateMs = { first: 500, last: 2_000 } as const
/** With fewer requests under way the cause of the delay is not load, but one piece of work: loading a library, a pause. */
const fewest = 16

/**
 * Little's law: a request that arrives while n requests are under way, of which r end each second, waits n/r seconds. So n is limited to
 * the number at which this wait is as long as a caller should wait, within fixed bounds: three times as many as saturate a process (128),
 * so that an accepted request waits at most three times as long as at capacity. The rest is refused at once and may be sent again.
 */
export const createAdmission = ({ most, waitSeconds }: AdmissionOptions): Admission => {
  let underWay = 0
  let ended = 0
  let perSecond = 0
  let late = 0
  const limit = (rank: 'first' | 'last'): number => Math.max(always[rank], Math.min(most[rank], perSecond * waitSeconds[rank]))
  return {
    enter: (rank) => {
      const isLate = (of: 'first' | 'last') => underWay >= fewest && late > lateMs[of]
      if (rank !== 'never' && (underWay >= limit(rank) || isLate(rank))) return false
      underWay += 1
      return true
    },
    leave: () => {
      underWay -= 1
      ended += 1
    },
    tick: (lateNow) => {
      perSecond += smoothing * ((ended * 1000) / (100 + lateNow) - perSecond)
      ended = 0
      late = lateNow
    },
    underWay: () => underWay,
  }
}
