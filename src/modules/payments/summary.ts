import type { Principal } from '../../auth/principal.ts'
import { lastDays } from '../../lib/days.ts'
import { formatMinor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import type { Deps } from './deps.ts'
import { type PaymentSearch, readMatching, spending, totals } from './queries.ts'
import type { PaymentsSummary } from './schema.ts'

/** How many payments match a filter, their sums, and what was spent on each of the last days: in one statement. */
export const summarizePayments = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { workspace }: Pick<Principal, 'workspace'>,
  search: PaymentSearch,
  days: number,
): Promise<PaymentsSummary> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const dates = lastDays(periodsAt(at, zone).day, days)
  const rows = await readMatching(deps.db, workspace.id, search, (db, filter) =>
    db.run(totals, { workspaceId: workspace.id, ...filter, zone, since: dates[0] ?? '' }),
  )
  const byStatus = Map.groupBy(rows, ({ status }) => status)
  const byDay = Map.groupBy(rows, ({ date }) => date)
  const totalOf = (rows: readonly { count: number; amount: string | null }[] = []) => ({
    count: rows.reduce((total, row) => total + row.count, 0),
    amount_minor: formatMinor(rows.reduce((total, row) => total + BigInt(row.amount ?? '0'), 0n)),
  })
  return {
    currency: deps.config.CURRENCY,
    ...totalOf(rows),
    spent: totalOf(rows.filter(({ status }) => spending.includes(status))),
    by_status: [...byStatus].map(([status, own]) => ({ status, ...totalOf(own) })),
    by_day: dates.map((date) => ({ date, ...totalOf(byDay.get(date)) })),
  }
}
