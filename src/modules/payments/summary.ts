import { and, count, sql, sum } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import { payments, underWayPaymentStatuses } from '../../db/tables/payments.ts'
import { lastDays } from '../../lib/days.ts'
import { formatMinor } from '../../lib/money.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import type { Deps } from './deps.ts'
import { matching, type PaymentSearch, type PaymentStatus, readMatching } from './queries.ts'
import type { PaymentsSummary } from './schema.ts'

/** Money that has left or is under way: this counts as a day's spending. */
const spending: readonly PaymentStatus[] = [...underWayPaymentStatuses, 'succeeded']

/** How many payments match a filter, their sums, and what was spent on each of the last days: in two statements. */
export const summarizePayments = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { workspace }: Pick<Principal, 'workspace'>,
  search: PaymentSearch,
  days: number,
): Promise<PaymentsSummary> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const dates = lastDays(periodsAt(at, zone).day, days)
  const amount = sum(payments.amountMinor)
  const date = sql<string>`to_char(${payments.createdAt} at time zone ${zone}, 'YYYY-MM-DD')`
  const { byStatus, byDay } = await readMatching(deps.db, workspace.id, search, async ({ orm }, filter) => {
    const matched = matching(workspace.id, filter)
    return {
      byStatus: await orm
        .select({ status: payments.status, count: count(), amount })
        .from(payments)
        .where(matched)
        .groupBy(payments.status),
      byDay: await orm
        .select({ date, count: count(), amount })
        .from(payments)
        .where(
          and(
            matched,
            sql`${payments.status} = any(${sql.param(spending)}::text[])`,
            sql`${payments.createdAt} >= ${dates[0]}::date::timestamp at time zone ${zone}`,
          ),
        )
        .groupBy(sql`1`),
    }
  })
  const minorOf = (text: string | null | undefined) => formatMinor(BigInt(text ?? '0'))
  return {
    currency: deps.config.CURRENCY,
    count: byStatus.reduce((total, row) => total + row.count, 0),
    amount_minor: formatMinor(byStatus.reduce((total, row) => total + BigInt(row.amount ?? '0'), 0n)),
    by_status: byStatus.map((row) => ({ status: row.status, count: row.count, amount_minor: minorOf(row.amount) })),
    by_day: dates.map((day) => {
      const row = byDay.find((candidate) => candidate.date === day)
      return { date: day, count: row?.count ?? 0, amount_minor: minorOf(row?.amount) }
    }),
  }
}
