import { balanceAccountsOf, type Principal } from '../../auth/principal.ts'
import { type Database, statement } from '../../db/client.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { paymentStatuses } from '../../db/transitions.ts'
import { dayNumber, firstTime, hourTotalsSql, lastTime, periodSql } from '../../ledger/hours.ts'
import { paymentIds } from '../../ledger/id-bounds.ts'
import { formatMinor, type Minor, sumOf } from '../../lib/money.ts'
import { lastDaysInZones } from '../../policy/calendar.ts'
import type { Parts } from '../parts.ts'
import { readZones } from '../workspaces/queries.ts'
import { type PaymentSearch, type PaymentStatus, readMatching, spending, totals } from './queries.ts'
import type { PaymentTotals } from './schema.ts'

type Scope = { workspace: Principal['workspace']; starts: readonly Date[] }

/** `day`: the number of the local day, from 1; null for payments before the first day. */
type PaymentSum = { day: number | null; status: PaymentStatus; count: number; amountMinor: Minor }

const between = (begins: string, ends: string): string => `p.created_at >= ${begins} and p.created_at < ${ends}
  and (p.workspace_id, p.id) > ($2::uuid, ${paymentIds.lowerBound('$2::uuid', begins)})
  and (p.workspace_id, p.id) < ($2::uuid, ${paymentIds.upperBound('$2::uuid', ends)})`

/**
 * Adds stored totals of whole hours and single payments of the partial hours. Most payments have succeeded, so succeeded ones are
 * computed as all payments minus the others. `is true` keeps the planner off the index on times, which covers every workspace.
 */
const sums = statement('payments.sums')`
  with ${periodSql('$3::timestamptz', '$4::timestamptz', '$5')},
   all_payments as (
     select ${dayNumber('h.hour', '$5')} as day, h.entries as payments, h.went_out_minor as minor from ${hourTotalsSql('any($1::uuid[])')}
     where h.workspace_id = $2::uuid and h.type = 'made'
     union all
     select ${dayNumber('p.created_at', '$5')}, 1, p.amount_minor from edges e cross join lateral (
       select p.created_at, p.amount_minor from payments p where ${between('e.begins', 'e.ends')}) as p),
   others as (
     select ${dayNumber('p.created_at', '$5')} as day, p.status, count(*) as payments, sum(p.amount_minor) as minor from payments p
     where p.workspace_id = $2::uuid and p.status in ${namesSql(paymentStatuses.filter((status) => status !== 'succeeded'))}
       and (p.created_at >= $3::timestamptz and p.created_at < $4::timestamptz) is true group by 1, 2)
   select day, status, sum(payments)::int as count, sum(minor)::bigint as "amountMinor" from (
     select day, 'succeeded' as status, payments, minor from all_payments
     union all select day, 'succeeded', -payments, -minor from others
     union all select day, status, payments, minor from others) as s
   group by 1, 2 having sum(payments) > 0 order by 1, 2`

/** Filters that stored hourly totals support. Any other filter requires reading each payment. */
const hourlyTotalFilters: readonly string[] = ['statuses', 'createdAfter', 'createdBefore']
const hasHourlyTotals = (search: PaymentSearch): boolean =>
  Object.entries(search).every(([name, value]) => (value ?? null) === null || hourlyTotalFilters.includes(name))

/** `createdAfter` is exclusive but the query's start is inclusive, so 1 ms is added: times are whole milliseconds. */
const sumHourlyTotals = async (
  db: Database,
  { workspace, starts }: Scope,
  { createdAfter, createdBefore, statuses }: PaymentSearch,
): Promise<PaymentSum[]> => {
  const begins = createdAfter ? new Date(createdAfter.getTime() + 1) : firstTime
  const values = [balanceAccountsOf(workspace), workspace.id, begins, createdBefore ?? lastTime, starts]
  return (await db.query<PaymentSum>(sums, values)).filter(({ status }) => statuses?.includes(status) ?? true)
}

const sumMatchingPayments = async (db: Database, { workspace, starts }: Scope, search: PaymentSearch): Promise<PaymentSum[]> => {
  const rows = await readMatching(db, workspace.id, search, (db, filter) =>
    db.run(totals, { workspaceId: workspace.id, ...filter, starts }),
  )
  return rows.map(({ amount, ...row }) => ({ ...row, amountMinor: BigInt(amount ?? '0') }))
}

const totalOf = (rows: readonly PaymentSum[] = []) => ({
  count: rows.reduce((total, row) => total + row.count, 0),
  amount_minor: formatMinor(sumOf(rows)),
})

export const summarizePayments = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { workspace }: Pick<Principal, 'workspace'>,
  search: PaymentSearch,
  days: number,
): Promise<PaymentTotals> => {
  const { dates, starts } = lastDaysInZones(await readZones(deps.db, workspace), deps.clock.now(), days)
  const rows = await (hasHourlyTotals(search) ? sumHourlyTotals : sumMatchingPayments)(deps.db, { workspace, starts }, search)
  const spent = rows.filter(({ status }) => spending.includes(status))
  const spentBy = Map.groupBy(spent, ({ day }) => day)
  return {
    currency: deps.config.CURRENCY,
    ...totalOf(rows),
    spent: totalOf(spent),
    by_status: [...Map.groupBy(rows, ({ status }) => status)].map(([status, own]) => ({ status, ...totalOf(own) })),
    by_day: dates.map((date, index) => ({ date, ...totalOf(spentBy.get(index + 1)) })),
  }
}
