import type { Principal } from '../../auth/principal.ts'
import { lastDays } from '../../lib/days.ts'
import { formatMinor } from '../../lib/money.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import type { Deps } from './deps.ts'
import { type PaymentSearch, readMatching, spending, totalsByDay, totalsByStatus } from './queries.ts'
import type { PaymentsSummary } from './schema.ts'

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
  const [byStatus, byDay] = await readMatching(deps.db, workspace.id, search, (db, filter) => {
    const scope = { workspaceId: workspace.id, ...filter }
    return Promise.all([db.run(totalsByStatus, scope), db.run(totalsByDay, { ...scope, zone, since: dates[0] ?? '' })])
  })
  const minorOf = (text: string | null | undefined) => formatMinor(BigInt(text ?? '0'))
  const totalOf = (rows: typeof byStatus) => ({
    count: rows.reduce((total, row) => total + row.count, 0),
    amount_minor: formatMinor(rows.reduce((total, row) => total + BigInt(row.amount ?? '0'), 0n)),
  })
  return {
    currency: deps.config.CURRENCY,
    ...totalOf(byStatus),
    spent: totalOf(byStatus.filter(({ status }) => spending.includes(status))),
    by_status: byStatus.map((row) => ({ status: row.status, count: row.count, amount_minor: minorOf(row.amount) })),
    by_day: dates.map((day) => {
      const row = byDay.find((candidate) => candidate.date === day)
      return { date: day, count: row?.count ?? 0, amount_minor: minorOf(row?.amount) }
    }),
  }
}
