import type { Principal } from '../../auth/principal.ts'
import { ever, never } from '../../ledger/hours.ts'
import { type PaymentSum, readPaymentSums } from '../../ledger/payment-sums.ts'
import { lastDays } from '../../lib/clock.ts'
import { formatMinor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt, startOfDate } from '../../policy/calendar.ts'
import type { Deps } from './deps.ts'
import { type PaymentSearch, type PaymentStatus, readMatching, spending, totals } from './queries.ts'
import type { PaymentsSummary } from './schema.ts'

type Asked = { workspace: Principal['workspace']; zone: string; firstDay: string }

const isSpending = (status: PaymentStatus): boolean => spending.includes(status)

/** What sums are stored by: any other filter asks for each payment. */
const storedBy: readonly string[] = ['statuses', 'createdAfter', 'createdBefore']
const isStored = (search: PaymentSearch): boolean =>
  Object.entries(search).every(([name, value]) => (value ?? null) === null || storedBy.includes(name))

/** Times are whole milliseconds, and both bounds are outside. */
const readStored = async (
  deps: Pick<Deps, 'db'>,
  { workspace, zone, firstDay }: Asked,
  { createdAfter, createdBefore, statuses }: PaymentSearch,
): Promise<PaymentSum[]> => {
  const rows = await readPaymentSums(deps.db, workspace, {
    begins: createdAfter ? new Date(createdAfter.getTime() + 1) : ever,
    ends: createdBefore ?? never,
    zone,
    since: startOfDate(firstDay, zone),
  })
  return rows.filter(({ status }) => statuses?.includes(status) ?? true)
}

const readPlain = async (
  deps: Pick<Deps, 'db'>,
  { workspace, zone, firstDay }: Asked,
  search: PaymentSearch,
): Promise<PaymentSum[]> => {
  const rows = await readMatching(deps.db, workspace.id, search, (db, filter) =>
    db.run(totals, { workspaceId: workspace.id, ...filter, zone, since: firstDay }),
  )
  return rows.map(({ amount, ...row }) => ({ ...row, amountMinor: BigInt(amount ?? '0') }))
}

const totalOf = (rows: readonly PaymentSum[] = []) => ({
  count: rows.reduce((total, row) => total + row.count, 0),
  amount_minor: formatMinor(rows.reduce((total, row) => total + row.amountMinor, 0n)),
})

/** How many payments match a filter, their sums, and what was spent on each of the last days. */
export const summarizePayments = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { workspace }: Pick<Principal, 'workspace'>,
  search: PaymentSearch,
  days: number,
): Promise<PaymentsSummary> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const dates = lastDays(periodsAt(at, zone).day, days)
  const rows = await (isStored(search) ? readStored : readPlain)(deps, { workspace, zone, firstDay: dates[0] ?? '' }, search)
  const spent = rows.filter(({ status }) => isSpending(status))
  const spentBy = Map.groupBy(spent, ({ date }) => date)
  return {
    currency: deps.config.CURRENCY,
    ...totalOf(rows),
    spent: totalOf(spent),
    by_status: [...Map.groupBy(rows, ({ status }) => status)].map(([status, own]) => ({ status, ...totalOf(own) })),
    by_day: dates.map((date) => ({ date, ...totalOf(spentBy.get(date)) })),
  }
}
