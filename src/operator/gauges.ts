import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../db/client.ts'
import { statement } from '../db/client.ts'
import type { Feed } from '../events/feed.ts'
import { oldestUndelivered } from '../events/lag.ts'
import type { Clock } from '../lib/clock.ts'
import type { Alerts } from '../modules/alerts.ts'
import type { Rails } from '../rails/rail.ts'

const unknownPayments = statement(
  'metrics.unknown_payments',
  `select count(*) as count, min(updated_at) as oldest from payments where status = 'unknown'`,
)
const waitingJobs = statement(
  'metrics.waiting_work',
  `select 'payments' as name, count(*) as count, min(dispatch_due_at) as oldest from payments where dispatch_due_at is not null
   union all select 'topups', count(*), min(dispatch_due_at) from topups where dispatch_due_at is not null
   union all select 'deliveries', count(*), min(received_at) from callback_deliveries where processed_at is null`,
)

const verifications = statement('metrics.verifications', 'select name, totals, at from verify_points')

const openApprovals = statement(
  'metrics.open_approvals',
  `select count(*) as count, min(created_at) as oldest from approvals where status = 'pending'`,
)

const ageSeconds = (now: Date, since: Date | null | undefined) =>
  since ? Math.max(0, (now.getTime() - since.getTime()) / 1000) : 0

export type GaugeDeps = { alerts: Alerts; clock: Clock; db: Database; feed: Feed; rails: Rails }

/** The gauges that are read at each scrape. When the database is down, the reading still works and shows that. */
export const registerGauges = (registry: Registry, deps: GaugeDeps): (() => Promise<void>) => {
  const { db, clock, feed } = deps
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const lag = gauge('events_lag_seconds', 'Age of the oldest event that this process has not handed to its streams yet.')
  const unknown = gauge('payments_unknown', 'Payments whose outcome is unknown: an operator must find evidence.')
  const unknownAge = gauge('payments_unknown_oldest_seconds', 'How long the oldest of them has been unknown.')
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
  const approvals = gauge('approvals_open', 'Payments that wait for an approval.')
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
    const [unknownRow] = await db.query<{ count: bigint; oldest: Date | null }>(unknownPayments)
    unknown.set(Number(unknownRow?.count ?? 0n))
    unknownAge.set(ageSeconds(now, unknownRow?.oldest))
    jobs.reset()
    jobLag.reset()
    for (const row of await db.query<{ name: string; count: bigint; oldest: Date | null }>(waitingJobs)) {
      jobs.set({ queue: row.name }, Number(row.count))
      jobLag.set({ queue: row.name }, ageSeconds(now, row.oldest))
    }
    const open = await db.query<{ count: bigint; oldest: Date | null }>(openApprovals)
    approvals.set(Number(open[0]?.count ?? 0n))
    approvalAge.set(ageSeconds(now, open[0]?.oldest))
    // NaN until the first check: a new service has not verified anything, and this must not raise an alert.
    for (const scope of ['whole', 'recent']) verifiedAge.set({ scope }, Number.NaN)
    for (const { name, totals, at } of await db.query<{ name: string; totals: { broken?: string }; at: Date }>(verifications)) {
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
    up.set(
      await readRows().then(
        () => 1,
        () => 0,
      ),
    )
  }
}
