import { sql } from 'drizzle-orm'
import { Gauge, type Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import { type Database, first, statement } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { approvals } from '../../db/tables/approvals.ts'
import { streamPlaces } from '../../db/tables/events.ts'
import { installationKeys } from '../../db/tables/installation.ts'
import { pauseCauses, verifyPoints } from '../../db/tables/rails.ts'
import type { Witness } from '../../db/witness.ts'
import type { Feed } from '../../events/feed.ts'
import { oldestUndelivered } from '../../events/read.ts'
import { uncountedSince } from '../../ledger/hours.ts'
import type { Clock } from '../../lib/clock.ts'
import { version } from '../../lib/version.ts'
import type { Alerts } from '../../modules/alerts.ts'
import { listPauses } from '../../modules/exceptions/pauses-service.ts'
import type { Rails } from '../../rails/rail.ts'

/** What waits for a person, told from the tables: every process reports the same, also after a restart and what a command found. */
const forPeople = statement(
  'metrics.for_people',
  `select 'payment_unknown' as kind, count(*) as count, min(updated_at) as oldest from payments where status = 'unknown'
   union all select 'late_success', count(*), min(late_success_at) from payments where late_success_at is not null and late_success_resolved_at is null
   union all select 'suspense', count(*), min(created_at) from suspense_items where resolved_at is null
   union all select 'reconciliation_difference', count(*), min(d.created_at) from reconciliation_differences d where d.resolved_at is null
   union all select 'evidence_disputed', count(*), min(updated_at) from rail_attempts where state = 'disputed' and updated_at > $1::timestamptz - interval '1 day'`,
)
const waitingJobs = statement(
  'metrics.waiting_work',
  `select 'payments' as name, count(*) as count, min(dispatch_due_at) as oldest from payments where dispatch_due_at is not null
   union all select 'topups', count(*), min(dispatch_due_at) from topups where dispatch_due_at is not null
   union all select 'deliveries', count(*), min(received_at) from callback_deliveries where processed_at is null`,
)

const verifications = prepare(
  'metrics.verifications',
  {},
  (orm) => orm.select({ name: verifyPoints.name, totals: verifyPoints.totals, at: verifyPoints.at }).from(verifyPoints),
  'pool',
)

const openApprovals = prepare(
  'metrics.open_approvals',
  {},
  (orm) =>
    orm
      .select({ count: sql<number>`count(*)::int`, oldest: sql<Date | null>`min(${approvals.createdAt})` })
      .from(approvals)
      .where(sql`${approvals.status} = 'pending'`),
  'pool',
)

const keys = prepare(
  'metrics.keys',
  {},
  (orm) =>
    orm
      .select({ ring: installationKeys.ring, key: installationKeys.keyId, createdAt: installationKeys.createdAt })
      .from(installationKeys),
  'pool',
)
const unsealed = statement(
  'metrics.unsealed',
  `select at as oldest from audit_log
   where (transaction, id) > (coalesce((select through_transaction from audit_seals order by sequence desc limit 1), '0'::xid8),
     coalesce((select through_id from audit_seals order by sequence desc limit 1), '00000000-0000-0000-0000-000000000000'::uuid))
   order by audit_log.transaction, audit_log.id limit 1`,
)

const ageSeconds = (now: Date, since: Date | null | undefined) =>
  since ? Math.max(0, (now.getTime() - since.getTime()) / 1000) : 0

const streams = prepare(
  'metrics.streams',
  {},
  (orm) =>
    orm
      .select({ open: sql<number>`count(*)::int` })
      .from(streamPlaces)
      .where(sql`${streamPlaces.renewedAt} > clock_timestamp() - interval '1 minute'`),
  'pool',
)
/** Of each rail that nobody has paused: since when the payment waits that has waited longest to be sent. */
const waitingForRail = statement(
  'metrics.waiting_for_rail',
  `select r.rail, (select p.updated_at from payments p where p.status = 'processing' and p.dispatch_due_at is not null and p.rail = r.rail
     order by p.updated_at limit 1) as since
   from unnest($1::text[]) as r(rail) where not exists (select from rail_pauses x where x.rail = r.rail)`,
)

export type GaugeDeps = {
  alerts: Alerts
  clock: Clock
  config: Pick<Config, 'PAYMENT_WAIT_MINUTES'>
  db: Database
  feed: Feed
  rails: Rails
  witness: Pick<Witness, 'clockDiffersByMs'>
}

/** The gauges that are read at each scrape. When the database is down, the reading still works and shows that. */
export const registerGauges = (registry: Registry, deps: GaugeDeps): (() => Promise<void>) => {
  const { db, clock, feed } = deps
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const lag = gauge('events_lag_seconds', 'Age of the oldest event that this process has not handed to its streams yet.')
  const waits = gauge(
    'attention_open',
    'What waits for a person, by kind, as the tables have it. evidence_disputed: what a provider contradicted within the last day.',
    ['kind'],
  )
  const waitsAge = gauge('attention_oldest_seconds', 'How long the oldest of each kind has waited; 0 when there is none.', [
    'kind',
  ])
  const railPaused = gauge('rail_paused', '1 while an operator, or the service itself after lost writes, has paused the rail.', [
    'rail',
    'cause',
  ])
  const keyAge = gauge('key_age_seconds', 'How long ago each key of a ring was first used by this installation.', ['ring', 'key'])
  const unsealedAge = gauge('audit_unsealed_seconds', 'Age of the oldest row of the audit log that no seal covers yet.')
  const totalsAge = gauge(
    'totals_lag_seconds',
    'Age of the oldest hour whose sums are not counted yet; up to 4,500 while the job keeps up, that of the oldest transfer after an upgrade.',
  )
  const jobs = gauge(
    'jobs_waiting',
    'Rows that wait to be worked on, by kind: payments and top-ups to be sent, deliveries to be processed.',
    ['queue'],
  )
  const jobLag = gauge(
    'jobs_lag_seconds',
    'How long the oldest of them has been due; for deliveries, how long it has waited since it arrived.',
    ['queue'],
  )
  const pendingApprovals = gauge('approvals_open', 'Payments that wait for an approval.')
  const approvalAge = gauge('approvals_open_oldest_seconds', 'How long the oldest of them has waited.')
  const verifiedAge = gauge(
    'promises_verified_age_seconds',
    'How long ago the data were checked against every promise and kept them: whole, or what had changed (recent).',
    ['scope'],
  )
  const broken = gauge('promises_broken', 'How many promises the last check of the data found broken.')
  const pool = gauge('database_connections', 'Connections of this process: in use, idle, and requests that wait for one.', [
    'state',
  ])
  const alerts = gauge('operator_alerts', 'Alerts that were raised since this process started, by kind.', ['alert'])
  const up = gauge(
    'database_up',
    '1 when the database answered, else 0: what is reported about its rows is then of an earlier time.',
  )

  const railUp = gauge(
    'rail_up',
    '1 while the rail takes calls, 0 while it is down or wants fewer; then nothing is sent by it.',
    ['rail'],
  )
  const waitShare = gauge(
    'payment_wait_share',
    'How long the oldest payment of a rail has waited to be sent, as a share of PAYMENT_WAIT_MINUTES: at 1 it fails if the rail is down. None while the rail is paused.',
    ['rail'],
  )
  const openStreams = gauge('streams_open', 'Open event streams of all processes.')
  const clockDiffers = gauge(
    'clock_differs_seconds',
    "By how much this machine's clock differs from the database's, whose time the service uses.",
  )
  gauge('build_info', 'The release that this process runs: always 1.', ['version', 'node']).set(
    { version, node: process.version },
    1,
  )
  const railCalls = gauge('rail_calls', 'Calls of this process to the rail that are under way.', ['rail'])

  const readRails = () => {
    for (const [rail, gate] of Object.entries(deps.rails.gates)) {
      const { state, underWay } = gate.read()
      railUp.set({ rail }, state === 'up' ? 1 : 0)
      railCalls.set({ rail }, underWay)
    }
  }
  const readPool = () => {
    const { totalCount, idleCount, waitingCount } = db.pool
    pool.set({ state: 'used' }, totalCount - idleCount)
    pool.set({ state: 'idle' }, idleCount)
    pool.set({ state: 'waiting' }, waitingCount)
  }
  const readRows = async () => {
    const now = clock.now()
    lag.set(ageSeconds(now, await oldestUndelivered(db, feed.position())))
    for (const row of await db.query<{ kind: string; count: bigint; oldest: Date | null }>(forPeople, [now])) {
      waits.set({ kind: row.kind }, Number(row.count))
      waitsAge.set({ kind: row.kind }, ageSeconds(now, row.oldest))
    }
    for (const rail of Object.keys(deps.rails.gates)) for (const cause of pauseCauses) railPaused.set({ rail, cause }, 0)
    for (const { rail, cause } of await listPauses(db)) railPaused.set({ rail, cause }, 1)
    keyAge.reset()
    for (const row of await db.run(keys, {})) keyAge.set({ ring: row.ring, key: row.key }, ageSeconds(now, row.createdAt))
    const [log] = await db.query<{ oldest: Date | null }>(unsealed)
    unsealedAge.set(ageSeconds(now, log?.oldest))
    const [uncounted] = await db.query<{ oldest: Date | null }>(uncountedSince)
    totalsAge.set(ageSeconds(now, uncounted?.oldest))
    openStreams.set((await first(db, streams, {}))?.open ?? 0)
    waitShare.reset()
    const waitSeconds = deps.config.PAYMENT_WAIT_MINUTES * 60
    for (const row of await db.query<{ rail: string; since: Date | null }>(waitingForRail, [Object.keys(deps.rails.payout)]))
      waitShare.set({ rail: row.rail }, ageSeconds(now, row.since) / waitSeconds)
    jobs.reset()
    jobLag.reset()
    for (const row of await db.query<{ name: string; count: bigint; oldest: Date | null }>(waitingJobs)) {
      jobs.set({ queue: row.name }, Number(row.count))
      jobLag.set({ queue: row.name }, ageSeconds(now, row.oldest))
    }
    const pending = await first(db, openApprovals, {})
    pendingApprovals.set(pending?.count ?? 0)
    approvalAge.set(ageSeconds(now, pending?.oldest))
    // NaN until the first check: a new service has not verified anything, and this must not raise an alert.
    for (const scope of ['whole', 'recent']) verifiedAge.set({ scope }, Number.NaN)
    for (const { name, totals, at } of await db.run(verifications, {})) {
      if (name === 'last') broken.set(Number(totals.broken ?? '0'))
      else verifiedAge.set({ scope: name }, ageSeconds(now, at))
    }
  }
  const readAlerts = () => {
    for (const [alert, count] of Object.entries(deps.alerts.counts())) alerts.set({ alert }, count)
  }
  return async () => {
    readPool()
    readRails()
    readAlerts()
    clockDiffers.set(deps.witness.clockDiffersByMs() / 1000)
    up.set(
      await readRows().then(
        () => 1,
        () => 0,
      ),
    )
  }
}
