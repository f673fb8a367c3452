import type { Clock } from '../lib/clock.ts'
import { allRails } from '../lib/rail-names.ts'
import type { Attempt, CollectionAdapter, Evidence, PayoutAdapter, RailGate, Submission } from './rail.ts'

export type CallOutcome = 'answered' | 'throttled' | 'failed'

/** `trips`: openings without a success in between; the pause grows with them. */
export type Breaker = {
  phase: 'closed' | 'open' | 'half_open'
  failures: number
  trips: number
  untilMs: number
  cause: CallOutcome
}

export const closedBreaker: Breaker = { phase: 'closed', failures: 0, trips: 0, untilMs: 0, cause: 'answered' }

/** In a row: a single lost answer proves little. */
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

/** A failed trial call, a fifth failure in a row, or a rate limit opens it. */
export const afterCall = (breaker: Breaker, outcome: CallOutcome, nowMs: number): Breaker => {
  if (outcome === 'answered') return closedBreaker
  if (outcome === 'throttled') return breaker.phase === 'open' ? breaker : open(breaker, 'throttled', nowMs)
  const failures = breaker.failures + 1
  if (breaker.phase === 'open') return { ...breaker, failures }
  if (breaker.phase === 'half_open' || failures >= failuresToOpen) return open({ ...breaker, failures }, 'failed', nowMs)
  return { ...breaker, failures }
}

/** An answer to another call: the trial call need not wait. */
export const afterAnswer = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.phase === 'open' && breaker.cause === 'failed' ? { ...breaker, untilMs: nowMs } : breaker

/** One trial call may go out then. */
export const atTime = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.phase === 'open' && nowMs >= breaker.untilMs ? { ...breaker, phase: 'half_open' } : breaker

const outcomeOf = (submission: Submission): CallOutcome => {
  if (submission.kind === 'lost') return 'failed'
  // The connection was established: only our own permission was missing.
  if (submission.kind !== 'not_sent' || submission.code === 'not_permitted') return 'answered'
  return submission.code === 'throttled' ? 'throttled' : 'failed'
}

/** `concurrency`: calls of this process to this rail at the same time. */
export const createGate = (options: { clock: Clock; concurrency: number }): RailGate => {
  let breaker: Breaker = closedBreaker
  let since: Date | null = null
  let underWay = 0
  /** Calls that began before the trial prove nothing about now. */
  let trialUnderWay = false
  const nowMs = () => options.clock.now().getTime()
  const current = (): Breaker => {
    breaker = atTime(breaker, nowMs())
    return breaker
  }
  return {
    free: () => {
      const { phase } = current()
      if (phase === 'open') return 0
      if (phase === 'half_open') return trialUnderWay ? 0 : 1
      return Math.max(0, options.concurrency - underWay)
    },
    read: () => {
      const { phase, cause } = current()
      return { state: phase === 'closed' ? 'up' : cause === 'throttled' ? 'throttled' : 'down', since, underWay }
    },
    answered: () => {
      breaker = afterAnswer(breaker, nowMs())
    },
    run: async (call) => {
      underWay += 1
      const isTrial = current().phase === 'half_open'
      if (isTrial) trialUnderWay = true
      try {
        const submission = await call()
        const before = current().phase
        breaker = afterCall(breaker, outcomeOf(submission), nowMs())
        if (breaker.phase === 'closed') since = null
        else if (before === 'closed') since = options.clock.now()
        return submission
      } finally {
        underWay -= 1
        if (isTrial) trialUnderWay = false
      }
    },
  }
}

const tellingAnswers =
  (query: (attempt: Attempt) => Promise<Evidence>, gate: RailGate) =>
  async (attempt: Attempt): Promise<Evidence> => {
    const evidence = await query(attempt)
    if (evidence.kind !== 'unknown') gate.answered()
    return evidence
  }

export const gatedPayout = (rail: PayoutAdapter, gate: RailGate): PayoutAdapter => ({
  ...rail,
  pay: (instruction) => gate.run(() => rail.pay(instruction)),
  query: tellingAnswers(rail.query, gate),
})

export const gatedCollection = (rail: CollectionAdapter, gate: RailGate): CollectionAdapter => ({
  ...rail,
  collect: (instruction) => gate.run(() => rail.collect(instruction)),
  query: tellingAnswers(rail.query, gate),
})

/** While it is not known that the database has what it had committed. */
const holds = {
  trusted: undefined,
  looking: 'held until everything acknowledged was found in the database',
  lost: 'paused: the database lost writes that it had committed; an operator reconciles, then runs after-restore',
} as const

export const railsHeld = (state: keyof typeof holds): Record<string, string> => {
  const why = holds[state]
  return why === undefined ? {} : Object.fromEntries(allRails.map((rail) => [rail, why]))
}

export const railsDown = (gates: Readonly<Record<string, RailGate>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(gates).flatMap(([rail, gate]) => {
      const { state, since } = gate.read()
      if (state === 'up') return []
      const why = state === 'throttled' ? 'the provider takes fewer requests' : 'the provider does not answer'
      return [[rail, `${why}, since ${since?.toISOString() ?? 'now'}`]]
    }),
  )
