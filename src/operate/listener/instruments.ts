import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { NewEvent } from '../../events/append.ts'
import type { Swept } from '../../jobs/jobs.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import type { Rails } from '../../rails/rail.ts'

const quickSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const waitSeconds = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 5, 15]
const sweepSeconds = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300]
const callSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30]
const humanSeconds = [10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86_400, 3 * 86_400]
const paymentSeconds = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 86_400]

const secondsSince = (start: number): number => (performance.now() - start) / 1000

type EventTimes = { created_at?: string; payment_rail?: string }

const endingEvents =
  /^(payment\.(succeeded|failed|returned)|approval\.(approved|rejected|expired|cancelled)|topup\.(succeeded|failed|expired))$/

export type Instruments = ReturnType<typeof createInstruments>

/** Wraps parts of the service to record how long each call takes. */
export const createInstruments = (registry: Registry) => {
  const registers = [registry]
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  const counter = (name: string, help: string, labelNames: string[]) => new Counter({ name, help, labelNames, registers })
  const decisions = histogram(
    'payment_decision_seconds',
    'Duration of payment decisions, including the wait in the queue, by outcome: processing, pending_approval, or the error code.',
    ['outcome'],
    quickSeconds,
  )
  const approvals = histogram(
    'approval_seconds',
    'Time from request to decision or end of approvals, by outcome.',
    ['outcome'],
    humanSeconds,
  )
  const completed = histogram(
    'payment_completion_seconds',
    'Time from creation to end of payments, including approval, by rail and outcome.',
    ['rail', 'outcome'],
    paymentSeconds,
  )
  const topups = histogram(
    'topup_completion_seconds',
    'Time from start to end of top-ups, by outcome.',
    ['outcome'],
    paymentSeconds,
  )
  const eventsTotal = counter('events_total', 'Committed events, by type.', ['type'])
  const callDurations = histogram(
    'rail_call_seconds',
    'Duration of calls to rails, by rail, call and result.',
    ['rail', 'call', 'result'],
    callSeconds,
  )
  const connectionWaits = histogram('database_connection_wait_seconds', 'Wait for a database connection.', [], waitSeconds)
  const sweepDurations = histogram('sweep_seconds', 'Duration of sweeps, by name.', ['sweep'], sweepSeconds)
  const sweptRows = counter('sweep_rows_total', 'Due rows found by sweeps, by name.', ['sweep'])
  const reads = counter(
    'reads_total',
    'Reads of lists and exports, by source: the standby, or the primary if the standby is behind or unavailable.',
    ['from'],
  )
  const redis = new Gauge({
    name: 'redis_up',
    help: 'Whether the configured Redis answers (1) or not (0). While 0, each process counts rate limits by itself.',
    registers,
  })
  redis.set(Number.NaN)
  for (const from of ['primary', 'standby']) reads.inc({ from }, 0)

  const observeEvent = (event: NewEvent, at: Date): void => {
    eventsTotal.inc({ type: event.type })
    if (!endingEvents.test(event.type)) return
    // A payment's creation event has no resource and ends nothing.
    const { created_at: since, payment_rail: rail = 'unknown' } = 'data' in event ? (event.data as EventTimes) : {}
    if (since === undefined) return
    const seconds = Math.max(0, (at.getTime() - Date.parse(since)) / 1000)
    const [kind, outcome = ''] = event.type.split('.')
    if (kind === 'payment') completed.observe({ rail, outcome }, seconds)
    else (kind === 'approval' ? approvals : topups).observe({ outcome }, seconds)
  }

  const timed =
    <Input, Answer extends { kind: string }>(rail: string, call: string, work: (input: Input) => Promise<Answer>) =>
    async (input: Input): Promise<Answer> => {
      const start = performance.now()
      let result = 'error'
      try {
        const answer = await work(input)
        result = answer.kind
        return answer
      } finally {
        callDurations.observe({ rail, call, result }, secondsSince(start))
      }
    }
  return {
    connections: (seconds: number): void => connectionWaits.observe(seconds),
    payments: ({ outcome, seconds }: { outcome: string; seconds: number }): void => decisions.observe({ outcome }, seconds),
    sweeps: ({ name, seconds, rows }: Swept): void => {
      sweepDurations.observe({ sweep: name }, seconds)
      if (rows !== undefined) sweptRows.inc({ sweep: name }, rows)
    },
    reads: (from: 'primary' | 'standby'): void => reads.inc({ from }),
    redis: (up: boolean): void => redis.set(up ? 1 : 0),
    events: ({ at, events }: { at: Date; events: readonly NewEvent[] }): void => {
      for (const event of events) observeEvent(event, at)
    },
    rails: ({ payout, collection, ...rails }: Rails): Rails => ({
      ...rails,
      payout: Object.fromEntries(
        Object.entries(payout).map(([name, rail]) => [
          name,
          { ...rail, pay: timed(name, 'pay', rail.pay), query: timed(name, 'query', rail.query) },
        ]),
      ) as Rails['payout'],
      collection: collection && {
        ...collection,
        collect: timed(collectionRail, 'collect', collection.collect),
        query: timed(collectionRail, 'query', collection.query),
      },
    }),
  }
}
