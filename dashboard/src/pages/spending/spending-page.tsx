import { type UseQueryResult, useInfiniteQuery, useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { paymentsStatementQuery, paymentsSummaryQuery, policiesQuery, rowsOf } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { addMonths, daysAfter, localDate, monthLabel, now } from '../../lib/time.ts'
import { compareMinor, leftOf, moneyText, roundMoney, share, sumMinor } from '../../lib/words.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Table } from '../../ui/listing.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Card, Empty, Failure, Page, SkeletonRows, SkeletonText } from '../../ui/page.tsx'
import { type LimitUse, limitUseOfGrant, limitUseOfPolicy, useWorkspaceAgents } from '../agents/agents.tsx'
import { tBooks } from '../history/texts.ts'
import { UpcomingPayments } from './upcoming-payments.tsx'

const dayMs = 86_400_000

/** Spending by month, the remaining amount of each limit, and scheduled payments. */
export const SpendingPage = () => {
  const { workspace } = useSession()
  return (
    <Page title={t('spending')} lead={tBooks('spending.of', { name: workspace.name })}>
      <Allowed permission="payment.read" action={tBooks('see_payments')}>
        <SpendingByAgent />
        <SpendingByBeneficiary />
        <RemainingLimits />
        <UpcomingPayments />
      </Allowed>
    </Page>
  )
}

/** Longest period that the service totals by day. */
const daysBack = 90
const maxShown = 8

/** Months whose first day is in the last 90 days, this month included. */
const wholeMonths = (): string[] => {
  const first = daysAfter(localDate(now()), 1 - daysBack)
  const months: string[] = []
  for (let month = localDate(now()).slice(0, 7); `${month}-01` >= first; month = addMonths(month, -1)) months.unshift(month)
  return months
}

type Row = { key: string; name: ReactNode; spent: string[] }

const larger = (a: string, b: string): string => (compareMinor(a, b) < 0 ? b : a)
const bySpent = (a: Row, b: Row): number => compareMinor(sumMinor(b.spent), sumMinor(a.spent))
const hasSpending = ({ spent }: Row): boolean => spent.some((minor) => minor !== '0')

type MonthlyTableProps = {
  label: string
  months: readonly string[]
  rows: Row[]
  totals: readonly string[]
  isPending: boolean
  /** Shown instead of the amounts if they could not be read. */
  problem: ReactNode
  /** Text that says on which day a payment counts. */
  measure: string
  note: string
}

/** Bars beside their amounts, all on one scale. */
const MonthlyTable = ({ label, months, rows, totals, isPending, problem, measure, note }: MonthlyTableProps) => {
  const { currency } = useSession()
  const shown = rows.filter(hasSpending).sort(bySpent).slice(0, maxShown)
  const most = shown.flatMap(({ spent }) => spent).reduce(larger, '1')
  const rest = totals.map((total, index) =>
    (BigInt(total) - BigInt(sumMinor(shown.map(({ spent }) => spent[index] ?? '0')))).toString(),
  )
  const sums = [
    { key: 'others', name: tBooks('others'), spent: rest },
    { key: 'all', name: tBooks('everyone'), spent: [...totals] },
  ]
  return (
    <Card
      title={tBooks('spending.by', { label: label.toLowerCase(), measure })}
      note={tBooks('spending.in', { currency, note })}
      flush
    >
      {isPending && <SkeletonRows rows={3} />}
      {!isPending && problem && <div className="card-body">{problem}</div>}
      {!isPending && !problem && shown.length === 0 && <Empty icon="payments" title={tBooks('spending.none')} />}
      {!isPending && !problem && shown.length > 0 && (
        <Table
          headings={[label, ...months.map((month) => ({ figures: monthLabel(month) }))]}
          label={tBooks('spending.label', { label: label.toLowerCase() })}
        >
          {[...shown, ...sums.filter(hasSpending)].map((row) => (
            <tr key={row.key} className={row.key === 'all' ? 'strong' : undefined}>
              <td>{row.name}</td>
              {row.spent.map((minor, index) => (
                <td key={months[index]} className="figure month-figure" title={moneyText(minor, currency)}>
                  {minor === '0' ? <span className="faint">–</span> : roundMoney(minor)}
                  {shown.includes(row) && (
                    <svg className="month-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                      <rect
                        className="chart-spent"
                        x={100 - share(minor, most) * 100}
                        width={share(minor, most) * 100}
                        height="4"
                      />
                    </svg>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

type Reading = Pick<UseQueryResult, 'data' | 'isPending' | 'error' | 'refetch'>

/** Whether some of these queries still load, and the first that failed without an answer: its amounts would count as none. */
const stateOf = (results: readonly Reading[]) => {
  const failed = results.find(({ data, error }) => data === undefined && error)
  return { isPending: !failed && results.some((result) => result.isPending), failed }
}

const failureOf = (failed: Reading | undefined) =>
  failed && <Failure error={failed.error} onRetry={() => void failed.refetch()} />

/** Spending of everyone, and of each recently used agent, the largest this month first. Loads one summary for each. */
const SpendingByAgent = () => {
  const months = wholeMonths()
  const { own, others, isPending, error, retry } = useWorkspaceAgents(true)
  const first = now() - daysBack * dayMs
  const agents = [...own, ...others]
    .filter(({ last_used_at: at }) => at !== null && Date.parse(at) > first)
    .sort((a, b) => compareMinor(b.usage.month_minor, a.usage.month_minor))
    .slice(0, maxShown)
  const spent = useQueries({
    queries: [{}, ...agents.map(({ id }) => ({ grant_id: id }))].map((filter) => paymentsSummaryQuery(filter, daysBack)),
    combine: (results) => ({
      ...stateOf(results),
      of: results.map(({ data }) =>
        months.map((month) =>
          sumMinor((data?.by_day ?? []).flatMap(({ date, amount_minor: minor }) => (date.startsWith(month) ? [minor] : []))),
        ),
      ),
    }),
  })
  const [totals = [], ...each] = spent.of
  const rows = agents.map(({ id, label }, index) => ({
    key: id,
    name: <Link href={`/agents/${id}`}>{label}</Link>,
    spent: each[index] ?? [],
  }))
  return (
    <MonthlyTable
      {...{ months, rows, totals }}
      label={tBooks('agent')}
      measure={tBooks('spending.requested')}
      note={tBooks('spending.requested_note')}
      isPending={isPending || spent.isPending}
      problem={error ? <Failure error={error} onRetry={retry} /> : failureOf(spent.failed)}
    />
  )
}

/** Outgoing money less returned money. */
const netOfReturns = (sent: string | null | undefined, returned: string | undefined): string =>
  (BigInt(sent ?? '0') - BigInt(returned ?? '0')).toString()

/** Spending by beneficiary, from the monthly statements: the same figures as in the books. */
const SpendingByBeneficiary = () => {
  const months = wholeMonths()
  const { read, ...state } = useQueries({
    queries: months.map((month) => paymentsStatementQuery(month)),
    combine: (results) => ({
      ...stateOf(results),
      read: results.map(({ data }) => data),
    }),
  })
  const names = new Map(read.flatMap((data) => data?.totals?.by_payee ?? []).map(({ id, display_name: name }) => [id, name]))
  const rows = [...names].map(([id, name]) => ({
    key: id,
    name: <Link href={`/beneficiaries/${id}`}>{name}</Link>,
    spent: read.map((data) => {
      const payee = data?.totals?.by_payee.find((each) => each.id === id)
      return netOfReturns(payee?.out_minor, payee?.in_minor)
    }),
  }))
  const totals = read.map((data) => {
    const returns = data?.totals?.by_type.find(({ type }) => type === 'payment_return')
    return netOfReturns(data?.out_minor, returns?.in_minor)
  })
  return (
    <MonthlyTable
      {...{ months, rows, totals }}
      isPending={state.isPending}
      problem={failureOf(state.failed) ?? (read.some((data) => data?.totals_pending) && <p>{tBooks('not_counted')}</p>)}
      label={t('payee')}
      measure={tBooks('spending.booked')}
      note={tBooks('spending.booked_note')}
    />
  )
}

const byShare = (a: LimitUse, b: LimitUse): number => share(b.used, b.limit) - share(a.used, a.limit)

const RemainingLimits = () => {
  const { currency, can } = useSession()
  const agents = useWorkspaceAgents(true)
  const policies = useInfiniteQuery({ ...policiesQuery('active'), enabled: can('policy.read') })
  const limits = [
    ...rowsOf(policies).flatMap(limitUseOfPolicy),
    ...[...agents.own, ...agents.others].flatMap((grant) => limitUseOfGrant(grant, `/agents/${grant.id}`)),
  ].sort(byShare)
  const isPending = agents.isPending || policies.isLoading
  return (
    <Card title={tBooks('room')} note={tBooks('room.note')}>
      <Failure error={agents.error} onRetry={agents.retry} />
      <Failure error={policies.error} onRetry={() => void policies.refetch()} />
      {isPending && <SkeletonText width="100%" height={56} />}
      {!isPending && !agents.error && !policies.error && limits.length === 0 && <p className="muted">{tBooks('room.none')}</p>}
      {!isPending && limits.length > 0 && (
        <ul className="limit-strips">
          {limits.map(({ name, period, href, ...use }) => (
            <li key={use.key}>
              <span>
                <Link href={href} className="in-text">
                  {name}
                </Link>{' '}
                <span className="faint">{period}</span>
              </span>
              <Meter used={use.used} limit={use.limit} currency={currency} label={`${name}, ${period}`} />
              <span className="figure small">{tBooks('left_of', { amount: moneyText(leftOf(use), currency) })}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
