/** What goes first when there is too much: reads and sign-in, then what moves money. What stops or gives back never goes. */
export type Rank = 'first' | 'last' | 'never'

export type AdmissionOptions = {
  /** Requests under way at once, at most, before what has this rank is refused. */
  most: Readonly<Record<'first' | 'last', number>>
  /** How long a request may have to wait for those before it, as far as it can be estimated. */
  waitSeconds: Readonly<Record<'first' | 'last', number>>
}

export type Admission = {
  /** Whether a request may begin. Each that may is ended by `leave`. */
  enter: (rank: Rank) => boolean
  leave: () => void
  /** To be called ten times a second, with how late the event loop was: how fast requests end is measured by it. */
  tick: (lateMs: number) => void
  underWay: () => number
}

/** What is always accepted, however slow everything is: with less, the rate at which requests end could not be measured. */
const always = { first: 64, last: 128 } as const
const smoothing = 0.3
/** As late as this, the event loop is what all requests wait for: nothing but the last rank is taken on, and then nothing. */
const lateMs = { first: 500, last: 2_000 } as const
/** With fewer requests under way it is no load that made the event loop late, but one piece of work: loading a library, a pause. */
const fewest = 16

/**
 * Little's law: a request that comes while n requests are under way, of which r end a second, waits n/r seconds. So the number is held
 * where that is as long as a caller should wait, and within fixed bounds: three times as many as saturate a process (128), so that a
 * request that is taken on waits no more than three times as long as at capacity. The rest is refused at once and may come back.
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
