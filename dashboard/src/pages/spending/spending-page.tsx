import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { paymentsStatementQuery, paymentsSummaryQuery, policiesQuery } from '../../api/queries.ts'
import { now } from '../../lib/clock.ts'
import { type LimitUse, ofGrant, ofPolicy } from '../../lib/limits.ts'
import { compareMinor, moneyText, roundMoney, share, sumMinor } from '../../lib/money.ts'
import { localDate, monthLabel } from '../../lib/time.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Card, Empty, Page, SkeletonRows } from '../../ui/layout.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Table } from '../../ui/table.tsx'
import { useWorkspaceAgents } from '../agents/use-agents.ts'
import { Coming } from './coming.tsx'

/** Where the money goes over the months, what each limit leaves, and what is coming. */
export const SpendingPage = () => {
  const { workspace } = useSession()
  return (
    <Page title="Spending" lead={`Of ${workspace.name}: what was sent or is being sent, by the day on which it was asked for.`}>
      <Allowed permission="payment.read" action="see payments">
        <ByAgent />
        <ByPayee />
        <Headroom />
        <Coming />
      </Allowed>
    </Page>
  )
}

/** The longest that the service sums up by days. */
const daysBack = 90
const mostShown = 8

/** This month and those before it that the last 90 days have whole. */
const wholeMonths = (): string[] => {
  const first = localDate(now() - (daysBack - 1) * 86_400_000)
  const months: string[] = []
  for (let month = localDate(now()).slice(0, 7); `${month}-01` >= first; month = monthBefore(month)) months.unshift(month)
  return months
}

const monthBefore = (month: string): string =>
  new Date(Date.parse(`${month}-01T00:00:00Z`) - 86_400_000).toISOString().slice(0, 7)

type Row = { key: string; name: ReactNode; spent: string[] }

/** What each of them spent in each month, by one summary each. */
const useSpent = (
  asked: readonly { key: string; name: ReactNode; filter: Parameters<typeof paymentsSummaryQuery>[0] }[],
  months: readonly string[],
) =>
  useQueries({
    queries: asked.map(({ filter }) => paymentsSummaryQuery(filter, daysBack)),
    combine: (results) => ({
      isPending: results.some(({ isPending }) => isPending),
      rows: asked.map(({ key, name }, index): Row => {
        const days = results[index]?.data?.by_day ?? []
        const of = (month: string) =>
          sumMinor(days.filter(({ date }) => date.startsWith(month)).map(({ amount_minor: minor }) => minor))
        return { key, name, spent: months.map(of) }
      }),
    }),
  })

const larger = (a: string, b: string): string => (compareMinor(a, b) < 0 ? b : a)

/** Bars beside their amounts: the table is the picture. All bars have one scale. */
const Months = ({
  label,
  months,
  rows,
  all,
}: {
  label: string
  months: readonly string[]
  rows: readonly Row[]
  all: Row | undefined
}) => {
  const { currency } = useSession()
  const shown = rows.filter(({ spent }) => spent.some((minor) => minor !== '0')).slice(0, mostShown)
  const most = shown.flatMap(({ spent }) => spent).reduce(larger, '1')
  if (shown.length === 0) return <Empty icon="payments" title="Nothing was spent in these months" />
  const others = all && {
    key: 'others',
    name: 'All others',
    spent: all.spent.map((total, at) =>
      (BigInt(total) - BigInt(sumMinor(shown.map(({ spent }) => spent[at] ?? '0')))).toString(),
    ),
  }
  const lines = [...shown, ...(others?.spent.some((minor) => minor !== '0') ? [others] : []), ...(all ? [all] : [])]
  return (
    <Table
      headings={[label, ...months.map((month) => ({ figures: monthLabel(month) }))]}
      label={`Spent by ${label.toLowerCase()} and month`}
    >
      {lines.map(({ key, name, spent }) => (
        <tr key={key} className={key === 'all' ? 'strong' : undefined}>
          <td>{name}</td>
          {spent.map((minor, at) => (
            <td key={months[at]} className="figure month-figure" title={moneyText(minor, currency)}>
              {minor === '0' ? <span className="faint">–</span> : roundMoney(minor)}
              {shown.some((row) => row.key === key) && (
                <svg className="month-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect className="chart-down" x={100 - share(minor, most) * 100} width={share(minor, most) * 100} height="4" />
                </svg>
              )}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

const bySpent = (a: Row, b: Row): number => compareMinor(sumMinor(b.spent), sumMinor(a.spent))

const SpentCard = ({ title, children }: { title: string; children: ReactNode }) => {
  const { currency } = useSession()
  return (
    <Card title={title} note={`In ${currency}, rounded.`} flush>
      {children}
    </Card>
  )
}

const ByAgent = () => {
  const months = wholeMonths()
  const { own, others, isPending } = useWorkspaceAgents(true)
  const agents = [...own, ...others].slice(0, 20)
  const spent = useSpent(
    [
      { key: 'all', name: 'Everyone', filter: {} },
      ...agents.map(({ id, label }) => ({
        key: id,
        name: <Link href={`/agents/${id}`}>{label}</Link>,
        filter: { grant_id: id },
      })),
    ],
    months,
  )
  const [all, ...rows] = spent.rows
  return (
    <SpentCard title="By agent">
      {isPending || spent.isPending ? (
        <SkeletonRows rows={3} />
      ) : (
        <Months label="Agent" months={months} rows={rows.sort(bySpent)} all={all} />
      )}
    </SpentCard>
  )
}

/** The payees who got most by the statements of these months; what was spent on each is the same figure as everywhere. */
const usePayees = (months: readonly string[]) =>
  useQueries({
    queries: months.map((month) => paymentsStatementQuery(month)),
    combine: (results) => {
      const out = new Map<string, { name: string; minor: string }>()
      for (const { id, display_name: name, out_minor: minor } of results.flatMap(({ data }) => data?.totals?.by_payee ?? []))
        out.set(id, { name, minor: sumMinor([out.get(id)?.minor ?? '0', minor]) })
      return {
        isPending: results.some(({ isPending }) => isPending),
        payees: [...out].sort(([, a], [, b]) => compareMinor(b.minor, a.minor)).slice(0, mostShown),
      }
    },
  })

const ByPayee = () => {
  const months = wholeMonths()
  const { payees, isPending } = usePayees(months)
  const spent = useSpent(
    [
      { key: 'all', name: 'Everyone', filter: {} },
      ...payees.map(([id, { name }]) => ({
        key: id,
        name: <Link href={`/beneficiaries/${id}`}>{name}</Link>,
        filter: { beneficiary_id: id },
      })),
    ],
    months,
  )
  const [all, ...rows] = spent.rows
  return (
    <SpentCard title="By payee">
      {isPending || spent.isPending ? (
        <SkeletonRows rows={3} />
      ) : (
        <Months label="Payee" months={months} rows={rows.sort(bySpent)} all={all} />
      )}
    </SpentCard>
  )
}

const byShare = (a: LimitUse, b: LimitUse): number => share(b.used, b.limit) - share(a.used, a.limit)

/** Each limit as one strip: the fullest first. */
const Headroom = () => {
  const { currency, can } = useSession()
  const { own, others } = useWorkspaceAgents(true)
  const policies = useInfiniteQuery({ ...policiesQuery('active'), enabled: can('policy.read') })
  const limits = [
    ...(policies.data?.pages.flatMap((page) => page.data) ?? []).flatMap(ofPolicy),
    ...[...own, ...others].flatMap((grant) => ofGrant(grant, `/agents/${grant.id}`)),
  ].sort(byShare)
  return (
    <Card title="Room under each limit" note="Payments on their way or waiting for approval count as used.">
      {limits.length === 0 ? (
        <p className="quiet">No policy and no agent has a limit for a day or a month.</p>
      ) : (
        <ul className="limit-strips">
          {limits.map(({ key, name, period, used, limit, href }) => (
            <li key={key}>
              <span>
                <Link href={href} className="in-text">
                  {name}
                </Link>{' '}
                <span className="faint">{period}</span>
              </span>
              <Meter used={used} limit={limit} currency={currency} label={`${name}, ${period}`} />
              <span className="figure small">
                {moneyText(compareMinor(used, limit) > 0 ? '0' : (BigInt(limit) - BigInt(used)).toString(), currency)} left
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
