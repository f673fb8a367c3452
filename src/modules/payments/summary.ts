import type { Principal } from '../../auth/principal.ts'
import { ever, never, spansOf } from '../../ledger/booking-spans.ts'
import { hasPaymentSums, readPaymentSums } from '../../ledger/payment-totals.ts'
import { dateAfter, lastDays } from '../../lib/days.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { memoised } from '../../lib/shared.ts'
import { effectiveTimeZone, periodsAt, startOfDate } from '../../policy/calendar.ts'
import type { Deps } from './deps.ts'
import { type PaymentSearch, type PaymentStatus, readMatching, spending, totals } from './queries.ts'
import type { PaymentsSummary } from './schema.ts'

/** `date`: the local day of what was spent; null for the sums of all days. */
type Sum = { date: string | null; status: PaymentStatus; count: number; amountMinor: Minor }
type Asked = { workspace: Principal['workspace']; zone: string; dates: readonly string[] }

const isSpending = (status: PaymentStatus): boolean => spending.includes(status)

/** What sums are stored by: any other filter asks for each payment. */
const storedBy: readonly string[] = ['statuses', 'createdAfter', 'createdBefore']
const isStored = (search: PaymentSearch): boolean =>
  Object.entries(search).every(([name, value]) => (value ?? null) === null || storedBy.includes(name))

const allDays = 'all'

/** Of all days and of each one, by the zone, the last day, how many, and the two bounds in milliseconds: requests of a day have the same ones. */
const spansFor = memoised((key) => {
  const [zone = '', today = '', count, begins, ends] = key.split(' ')
  const within = (label: string, start: Date, end: Date) =>
    spansOf(new Date(Math.max(start.getTime(), Number(begins))), new Date(Math.min(end.getTime(), Number(ends)))).map((span) => ({
      ...span,
      label,
    }))
  return [
    ...within(allDays, ever, never),
    ...lastDays(today, Number(count)).flatMap((date) =>
      within(date, startOfDate(date, zone), startOfDate(dateAfter(date, 1), zone)),
    ),
  ]
}, 64)

/** Times are whole milliseconds, and both bounds are outside. */
const readStored = async (deps: Pick<Deps, 'db'>, { workspace, zone, dates }: Asked, search: PaymentSearch): Promise<Sum[]> => {
  const { createdAfter, createdBefore, statuses } = search
  const begins = createdAfter ? createdAfter.getTime() + 1 : ever.getTime()
  const ends = createdBefore?.getTime() ?? never.getTime()
  const spans = spansFor([zone, dates.at(-1) ?? '', dates.length, begins, ends].join(' '))
  const rows = await readPaymentSums(deps.db, workspace, spans)
  return rows
    .filter(({ label, status }) => (label === allDays || isSpending(status)) && (statuses?.includes(status) ?? true))
    .map(({ label, ...row }) => ({ ...row, date: label === allDays ? null : label }))
}

const readPlain = async (deps: Pick<Deps, 'db'>, { workspace, zone, dates }: Asked, search: PaymentSearch): Promise<Sum[]> => {
  const rows = await readMatching(deps.db, workspace.id, search, (db, filter) =>
    db.run(totals, { workspaceId: workspace.id, ...filter, zone, since: dates[0] ?? '' }),
  )
  return rows.flatMap(({ date, amount, ...row }) => {
    const sum = { ...row, amountMinor: BigInt(amount ?? '0') }
    return date === null
      ? { ...sum, date }
      : [
          { ...sum, date: null },
          { ...sum, date },
        ]
  })
}

const totalOf = (rows: readonly Sum[] = []) => ({
  count: rows.reduce((total, row) => total + row.count, 0),
  amount_minor: formatMinor(rows.reduce((total, row) => total + row.amountMinor, 0n)),
})

/** By the last date and how many. */
const datesOf = memoised((key) => {
  const [today = '', count] = key.split(' ')
  return lastDays(today, Number(count))
}, 64)

/** How many payments match a filter, their sums, and what was spent on each of the last days. */
export const summarizePayments = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { workspace }: Pick<Principal, 'workspace'>,
  search: PaymentSearch,
  days: number,
): Promise<PaymentsSummary> => {
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const dates = datesOf(`${periodsAt(at, zone).day} ${days}`)
  const read = isStored(search) && (await hasPaymentSums(deps.db, workspace)) ? readStored : readPlain
  const byDate = Map.groupBy(await read(deps, { workspace, zone, dates }, search), ({ date }) => date)
  const all = byDate.get(null) ?? []
  return {
    currency: deps.config.CURRENCY,
    ...totalOf(all),
    spent: totalOf(all.filter(({ status }) => isSpending(status))),
    by_status: [...Map.groupBy(all, ({ status }) => status)].map(([status, own]) => ({ status, ...totalOf(own) })),
    by_day: dates.map((date) => ({ date, ...totalOf(byDate.get(date)) })),
  }
}
