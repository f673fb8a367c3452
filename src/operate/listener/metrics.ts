import { setTimeout as pause } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'
import { statement } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { pauseCauses } from '../../db/tables/rails.ts'
import type { Feed } from '../../events/feed.ts'
import { oldestUndelivered } from '../../events/read.ts'
import type { App } from '../../http/app-type.ts'
import { uncountedSinceSql } from '../../ledger/count-hours.ts'
import { shortages } from '../../lib/errors.ts'
import { build } from '../../lib/version.ts'
import type { Parts } from '../../modules/parts.ts'
import { resumedSql } from '../../modules/payments/wait-timeout.ts'

const gauges = {
  events_lag_seconds: ['Age of the oldest event that this process has not yet delivered to its streams.'],
  attention_open: [
    'Items waiting for a person, by kind. evidence_disputed: evidence that a provider contradicted within the last day.',
    'kind',
  ],
  attention_oldest_seconds: ['Age of the oldest item waiting for a person, by kind; 0 if there is none.', 'kind'],
  rail_paused: [
    'Whether the rail is paused (1) or not (0), by cause: an operator, lost writes, or a database that may be a copy.',
    'rail',
    'cause',
  ],
  key_age_seconds: ['Time since this installation first used the key, by key ring.', 'ring', 'key'],
  audit_unsealed_seconds: ['Age of the oldest audit log row without a seal.'],
  totals_lag_seconds: [
    'Age of the oldest hour without computed totals; up to 4,500 while the job keeps up, after an upgrade the age of the oldest transfer.',
  ],
  jobs_waiting: [
    'Rows waiting to be processed, by queue: payments and top-ups to send, callbacks (deliveries) to process.',
    'queue',
  ],
  jobs_lag_seconds: [
    'Time since the oldest waiting row was due, by queue; for deliveries, since the oldest callback arrived.',
    'queue',
  ],
  approvals_open: ['Pending approvals.'],
  approvals_open_oldest_seconds: ['Age of the oldest pending approval; 0 if there is none.'],
  promises_verified_age_seconds: [
    'Time since the last check that found every promise kept, by scope: all data (whole), or recent changes (recent).',
    'scope',
  ],
  promises_broken: ['Broken promises found by the last check of the data.'],
  database_connections: ['Database connections of this process, by state: in use, idle, and requests waiting for one.', 'state'],
  operator_alerts: ['Alerts raised since this process started, by kind.', 'alert'],
  database_up: [
    'Whether the database answered this scrape (1) or not (0). While 0, metrics read from tables keep their last values.',
  ],
  rail_up: [
    'Whether the rail takes calls (1) or not (0), because it is down or limits the rate. While 0, nothing is sent over it.',
    'rail',
  ],
  payment_wait_share: [
    'Wait of the oldest unsent payment, by rail, as a share of PAYMENT_WAIT_MINUTES. A pause restarts it. At 1 the payment fails if the rail has been down for as long. Absent while the rail is paused.',
    'rail',
  ],
  streams_open: ['Open event streams across all processes.'],
  clock_differs_seconds: ["Difference between this machine's clock and the database's, whose time the service uses."],
  build_info: ['Build information of this process; always 1.', 'version', 'node'],
  rail_calls: ['Calls of this process to the rail in progress.', 'rail'],
} satisfies Record<string, readonly [help: string, ...labels: string[]]>
type GaugeName = keyof typeof gauges

const agoSql = (time: string): string => `coalesce(greatest(extract(epoch from $1 - ${time}), 0), 0)`

/**
 * Gauges from the tables, so that every process reports the same values, even after a restart or a change by a command. `$1`:
 * now. `$2`: rails. `$3`: paying rails. `$4`: how many seconds a payment may wait for a rail. `verify` gauges are NaN until the
 * first check, so that a new service raises no alert.
 */
const tableGaugesSql = statement('metrics.rows')`
  with people as (
     select 'payment_unknown' as kind, count(*) as count, min(updated_at) as oldest from payments where status = 'unknown'
     union all select 'late_success', count(*), min(late_success_at) from payments where late_success_at is not null and late_success_resolved_at is null
     union all select 'suspense', count(*), min(created_at) from suspense_items where resolved_at is null
     union all select 'provider_alerts', count(*), min(created_at) from provider_alerts where resolved_at is null
     union all select 'reconciliation_difference', count(*), min(d.created_at) from reconciliation_differences d where d.resolved_at is null
     union all select 'evidence_disputed', count(*), min(updated_at) from rail_attempts where state = 'disputed' and updated_at > $1::timestamptz - interval '1 day'),
   jobs as (
     select 'payments' as queue, count(*) as count, min(dispatch_due_at) as oldest from payments where dispatch_due_at is not null
     union all select 'topups', count(*), min(dispatch_due_at) from topups where dispatch_due_at is not null
     union all select 'deliveries', count(*), min(received_at) from callback_deliveries where processed_at is null),
   open as (select count(*) as count, min(created_at) as oldest from approvals where status = 'pending'),
   unsealed as (
     select at from audit_log
     where (transaction, id) > (coalesce((select through_transaction from audit_seals order by sequence desc limit 1), '0'::xid8),
       coalesce((select through_id from audit_seals order by sequence desc limit 1), '00000000-0000-0000-0000-000000000000'::uuid))
     order by audit_log.transaction, audit_log.id limit 1),
   -- For each rail that is not paused: since when the payment has waited that waits longest.
   waiting as (
     select r.rail, (select greatest(p.updated_at, ${resumedSql('r.rail', '($1::timestamptz - make_interval(secs => $4::int))')})
       from payments p where p.status = 'processing' and p.dispatch_due_at is not null and p.rail = r.rail
       order by p.updated_at limit 1) as since
     from unnest($3::text[]) as r(rail) where not exists (select from rail_pauses x where x.rail = r.rail))
   select gauge, labels, value::float8 from (
     select 'attention_open' as gauge, json_build_object('kind', kind) as labels, count::numeric as value from people
     union all select 'attention_oldest_seconds', json_build_object('kind', kind), ${agoSql('oldest')} from people
     union all select 'jobs_waiting', json_build_object('queue', queue), count from jobs
     union all select 'jobs_lag_seconds', json_build_object('queue', queue), ${agoSql('oldest')} from jobs
     union all select 'approvals_open', '{}', count from open
     union all select 'approvals_open_oldest_seconds', '{}', ${agoSql('oldest')} from open
     union all select 'audit_unsealed_seconds', '{}', ${agoSql('(select at from unsealed)')}
     union all select 'totals_lag_seconds', '{}', ${agoSql(`(${uncountedSinceSql})`)}
     union all select 'streams_open', '{}', count(*) from stream_places where renewed_at > clock_timestamp() - interval '1 minute'
     union all select 'key_age_seconds', json_build_object('ring', ring, 'key', key_id), ${agoSql('created_at')} from installation_keys
     union all select 'payment_wait_share', json_build_object('rail', rail), ${agoSql('since')} / $4::int from waiting
     union all select 'rail_paused', json_build_object('rail', r.rail, 'cause', c.cause),
       exists (select from rail_pauses p where p.rail = r.rail and p.cause = c.cause)::int
       from unnest($2::text[] || array(select rail from rail_pauses)) as r(rail) cross join (values ${pauseCauses.map((cause) => `('${cause}')`).join(', ')}) as c(cause)
     union all select 'promises_verified_age_seconds', json_build_object('scope', s.scope), case when v.at is null then 'NaN' else ${agoSql('v.at')} end
       from (values ('whole'), ('recent')) as s(scope) left join verify_points v on v.name = s.scope
     union all select 'promises_broken', '{}', coalesce((totals ->> 'broken')::numeric, 0) from verify_points where name = 'last') as m`
type Measured = { gauge: GaugeName; labels: Record<string, string>; value: number }

export type MetricsDeps = Pick<Parts, 'alerts' | 'clock' | 'config' | 'db' | 'logger' | 'rails' | 'lossDetection'> & {
  feed: Feed
}

/** A scrape ends after ten seconds, of which waiting for a server that does not respond has taken seven already. */
const answerWithinMs = 1_000

/** Whether the database answers a query that reads nothing. */
const isAnswering = (db: MetricsDeps['db']): Promise<boolean> => {
  const answered = db.query('select').then(
    () => true,
    () => false,
  )
  return Promise.race([answered, pause(answerWithinMs, false, { ref: false })])
}

/** Gauges that are read at each scrape. If the database is down, the scrape still succeeds and reports that. */
const registerGauges = (registry: Registry, deps: MetricsDeps): (() => Promise<void>) => {
  const { alerts, clock, config, db, feed, logger, rails, lossDetection } = deps
  const gaugesByName = new Map(
    Object.entries(gauges).map(([name, [help, ...labelNames]]) => [
      name,
      new Gauge({ name, help: help ?? '', labelNames, registers: [registry] }),
    ]),
  )
  const set = (name: GaugeName, labels: Record<string, string>, value: number) => gaugesByName.get(name)?.set(labels, value)
  set('build_info', { version: build(), node: process.version }, 1)

  const readProcess = () => {
    const { totalCount, idleCount: idle, waitingCount: waiting } = db.pool
    for (const [state, count] of Object.entries({ used: totalCount - idle, idle, waiting }))
      set('database_connections', { state }, count)
    for (const [rail, gate] of Object.entries(rails.gates)) {
      const { state, underWay } = gate.read()
      set('rail_up', { rail }, state === 'up' ? 1 : 0)
      set('rail_calls', { rail }, underWay)
    }
    for (const [alert, count] of Object.entries(alerts.counts())) set('operator_alerts', { alert }, count)
    set('clock_differs_seconds', {}, lossDetection.clockDiffersByMs() / 1000)
  }
  const readRows = async () => {
    const now = clock.now()
    const undelivered = await oldestUndelivered(db, feed.position())
    set('events_lag_seconds', {}, undelivered ? Math.max(0, (now.getTime() - undelivered.getTime()) / 1000) : 0)
    const names = [Object.keys(rails.gates), Object.keys(rails.payout)]
    const rows = await db.query<Measured>(tableGaugesSql, [now, ...names, config.PAYMENT_WAIT_MINUTES * 60])
    // Since the last scrape, a key may have been removed or a rail paused.
    for (const name of ['key_age_seconds', 'payment_wait_share']) gaugesByName.get(name)?.reset()
    for (const { gauge, labels, value } of rows) set(gauge, labels, value)
  }
  let isRead = true
  return async () => {
    readProcess()
    const wasRead = isRead
    const error: unknown = await readRows().catch((reason: unknown) => reason)
    isRead = error === undefined
    if (wasRead && !isRead) logger.error(describeError(error), 'the metrics of the database could not be read')
    set('database_up', {}, isRead || (await isAnswering(db)) ? 1 : 0)
  }
}

export type Metrics = ReturnType<typeof createMetrics>

const bucketsSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Uses a separate registry per service, so that two services in one process do not count each other's requests. */
export const createMetrics = (deps: MetricsDeps, registry: Registry) => {
  collectDefaultMetrics({ register: registry })
  const readGauges = registerGauges(registry, deps)
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'Duration of HTTP requests, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: bucketsSeconds,
    registers: [registry],
  })
  const unavailable = new Counter({
    name: 'requests_unavailable_total',
    help: 'Requests answered with 503 `unavailable`, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.keys(shortages)) unavailable.inc({ reason }, 0)
  return {
    /** Times all requests of a listener by operation, because paths contain ids and each id would become a time series. */
    watch: (app: App): void => {
      app.addHook('onResponse', (request, reply, done) => {
        done()
        const { operation, internal, longLived } = request.routeOptions.config
        const { refusal } = request
        if (refusal?.code === 'unavailable')
          unavailable.inc({ reason: refusal.shortage ?? String(refusal.details?.reason ?? 'other') })
        if (longLived) return
        requests.observe(
          { operation: operation ?? (internal ? 'page' : 'none'), status: reply.statusCode },
          reply.elapsedTime / 1000,
        )
      })
    },
    /** Serves the metrics on the private listener only. */
    serve: (app: App): void => {
      app.get('/metrics', async (_request, reply) => {
        await readGauges()
        return reply.type(registry.contentType).send(await registry.metrics())
      })
    },
  }
}
