/** How a call to a provider ended: answered, refused because there were too many calls, or without an answer. */
export type CallOutcome = 'answered' | 'throttled' | 'failed'

/** `trips`: how often the breaker opened without a success in between; the pause grows with it. */
export type Breaker = {
  phase: 'closed' | 'open' | 'half_open'
  failures: number
  trips: number
  untilMs: number
  cause: CallOutcome
}

export const closedBreaker: Breaker = { phase: 'closed', failures: 0, trips: 0, untilMs: 0, cause: 'answered' }

/** This many calls in a row must fail before a rail counts as down: a single lost answer proves little. */
const failuresToOpen = 5
const pausesMs = {
  failed: { first: 5_000, most: 60_000 },
  throttled: { first: 1_000, most: 30_000 },
  answered: { first: 0, most: 0 },
}

const pauseMs = (cause: CallOutcome, trips: number): number => Math.min(pausesMs[cause].most, pausesMs[cause].first * 2 ** trips)

const open = (breaker: Breaker, cause: CallOutcome, nowMs: number): Breaker => ({
  phase: 'open',
  failures: breaker.failures,
  trips: breaker.trips + 1,
  untilMs: nowMs + pauseMs(cause, breaker.trips),
  cause,
})

/** One answer closes it. A failed trial call, a fifth failure in a row, or a rate limit of the provider opens it. */
export const afterCall = (breaker: Breaker, outcome: CallOutcome, nowMs: number): Breaker => {
  if (outcome === 'answered') return closedBreaker
  if (outcome === 'throttled') return breaker.phase === 'open' ? breaker : open(breaker, 'throttled', nowMs)
  const failures = breaker.failures + 1
  if (breaker.phase === 'open') return { ...breaker, failures }
  if (breaker.phase === 'half_open' || failures >= failuresToOpen) return open({ ...breaker, failures }, 'failed', nowMs)
  return { ...breaker, failures }
}

/** An answer to another call proves that the provider can be reached: the trial call need not wait. */
export const afterAnswer = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.phase === 'open' && breaker.cause === 'failed' ? { ...breaker, untilMs: nowMs } : breaker

/** Time alone only half-opens it: then one trial call may go out. */
export const atTime = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.phase === 'open' && nowMs >= breaker.untilMs ? { ...breaker, phase: 'half_open' } : breaker
