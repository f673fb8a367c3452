import type { Clock } from '../lib/clock.ts'
import { allRails } from '../lib/rail-names.ts'
import type { Attempt, CollectionAdapter, Evidence, PayoutAdapter, RailGate, Submission } from './rail.ts'

type CallOutcome = 'answered' | 'throttled' | 'failed'

/** Consecutive failures, because a single lost response proves little. */
const failuresToOpen = 5
const pausesMs = { failed: { first: 5_000, max: 60_000 }, throttled: { first: 1_000, max: 30_000 } }

const outcomeOf = (submission: Submission): CallOutcome => {
  if (submission.kind === 'lost') return 'failed'
  // The connection was made. Only our own permission was missing.
  if (submission.kind !== 'not_sent' || submission.code === 'not_permitted') return 'answered'
  return submission.code === 'throttled' ? 'throttled' : 'failed'
}

/**
 * Stops calls to a rail for a pause after five consecutive failures, a rate limit or a failed trial. Pauses grow until a call is
 * answered. After each, one trial call is allowed. `concurrency`: this process's maximum concurrent calls to the rail.
 */
export const createGate = ({ clock, concurrency }: { clock: Clock; concurrency: number }): RailGate => {
  let failures = 0
  let pauses = 0
  let cause: keyof typeof pausesMs = 'failed'
  let untilMs = 0
  let since: Date | null = null
  let underWay = 0
  /** A call that began before the trial does not show the present state. */
  let trialUnderWay = false
  const nowMs = () => clock.now().getTime()
  /** A pause longer than the maximum was computed before the clock was set back, and is ignored. */
  const isPaused = () => nowMs() < untilMs && untilMs - nowMs() <= 2 * pausesMs[cause].max
  const recordOutcome = (outcome: CallOutcome): void => {
    if (outcome === 'answered') {
      failures = pauses = untilMs = 0
      since = null
      return
    }
    if (outcome === 'failed') failures += 1
    if (isPaused() || (outcome === 'failed' && pauses === 0 && failures < failuresToOpen)) return
    const { first, max } = pausesMs[outcome]
    cause = outcome
    untilMs = nowMs() + Math.min(max, first * 2 ** pauses)
    pauses += 1
    since ??= clock.now()
  }
  return {
    free: () => {
      if (isPaused()) return 0
      if (pauses > 0) return trialUnderWay ? 0 : 1
      return Math.max(0, concurrency - underWay)
    },
    read: () => ({ state: pauses === 0 ? 'up' : cause === 'throttled' ? 'throttled' : 'down', since, underWay }),
    answered: () => {
      if (cause === 'failed') untilMs = Math.min(untilMs, nowMs())
    },
    run: async (call) => {
      underWay += 1
      const isTrial = pauses > 0 && !isPaused()
      if (isTrial) trialUnderWay = true
      try {
        const submission = await call()
        recordOutcome(outcomeOf(submission))
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

/** Why rails are held while it is unknown whether the database has all committed writes. */
const holds = {
  trusted: undefined,
  looking: 'held until all acknowledged writes are found in the database',
  lost: 'paused: the database lost committed writes; an operator must reconcile, then run after-restore',
} as const

const unknownSender =
  'held: an unknown process has payments in progress, so this may be a copy of the database; an operator must reconcile, then run after-restore'

type Holding = { state: () => keyof typeof holds; held: () => readonly string[] }

export const railsHeld = (by: Holding): Record<string, string> => {
  const why = holds[by.state()]
  const every = why === undefined ? [] : allRails.map((rail) => [rail, why])
  return Object.fromEntries([...every, ...by.held().map((rail) => [rail, unknownSender])])
}

/** Rails that have taken no call since `time` or longer. */
export const railsDownSince = (gates: Readonly<Record<string, RailGate>>, time: Date): string[] =>
  Object.entries(gates).flatMap(([rail, gate]) => {
    const { state, since } = gate.read()
    return state !== 'up' && since !== null && since <= time ? rail : []
  })

export const railsDown = (gates: Readonly<Record<string, RailGate>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(gates).flatMap(([rail, gate]) => {
      const { state, since } = gate.read()
      if (state === 'up') return []
      const why = state === 'throttled' ? 'the provider limits requests' : 'the provider does not answer'
      return [[rail, `${why}, since ${since?.toISOString() ?? 'now'}`]]
    }),
  )
