import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import {
  attentionQuery,
  grantsQuery,
  historySummaryQuery,
  recentFilters,
  recentPayments,
  recentPaymentsQuery,
  rowsOf,
} from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { shortMoney, sumMinor } from '../../lib/words.ts'
import { useAdministers } from '../../shell/nav-items.tsx'
import { useSession } from '../../shell/session.tsx'
import { LinkButton, NewLink } from '../../ui/button.tsx'
import { BalanceLine, DayChart } from '../../ui/charts.tsx'
import { laterPart } from '../../ui/later.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Amount, Card, Empty, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { AgentCard, lastActOf } from '../agents/agent-card.tsx'
import { useWorkspaceAgents } from '../agents/agents.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'
import { FirstSteps, useHas } from './first-steps.tsx'
import { Needs, useMorningSentence } from './needs.tsx'
import { SeparateBalance } from './separate-balance.tsx'

// Few people administer the service.
const ServiceWaiting = laterPart(async () => (await import('../reconciliation/waiting.tsx')).ServiceWaiting)

/** Whether everything has loaded that decides the page's layout: shown one by one, each part would push the ones below it. */
const useReady = (): boolean => {
  const { ownsBalance, ofTeam } = useSession()
  const inbox = useInbox()
  const attention = useQuery(attentionQuery)
  const balance = useQuery({ ...historySummaryQuery(ofTeam), enabled: ownsBalance })
  const steps = useHas()
  const lists = [useInfiniteQuery(grantsQuery), useInfiniteQuery(recentPaymentsQuery)]
  // `isLoading`: loading for the first time. A query that is disabled or has failed does not hold the page up.
  return ![attention, balance, ...lists].some(({ isLoading }) => isLoading) && !inbox.isPending && !steps.isLoading
}

/** What happened, what needs this person, and how much money there is. */
export const OverviewPage = () => {
  const { can } = useSession()
  const ready = useReady()
  const sentence = useMorningSentence()
  const administers = useAdministers()
  return (
    <Page
      title="Overview"
      lead={ready ? sentence : null}
      actions={
        (can('topup.create') || can('payment.create')) && (
          <>
            {can('topup.create') && (
              <LinkButton href="/top-up" icon="topup">
                Top up
              </LinkButton>
            )}
            {can('payment.create') && <NewLink href="/payments/new">New payment</NewLink>}
          </>
        )
      }
    >
      {ready ? (
        <>
          {administers && <ServiceWaiting />}
          <FirstSteps />
          <Needs />
          <SeparateBalance />
          <Balance />
          <AgentsStrip />
          <RecentPayments />
        </>
      ) : (
        <SkeletonCard rows={6} />
      )}
    </Page>
  )
}

const mostShown = 4

const AgentsStrip = () => {
  const { account, can } = useSession()
  const { own } = useWorkspaceAgents()
  const recent = rowsOf(useInfiniteQuery({ ...recentPaymentsQuery, enabled: can('payment.read') }))
  if (own.length === 0) return null
  return (
    <Card
      title="Agents"
      actions={
        <Link href="/agents" className="small">
          View all
        </Link>
      }
      flush
    >
      <ul className="agent-cards">
        {own.slice(0, mostShown).map((agent) => (
          <li key={agent.id}>
            <AgentCard agent={agent} ownerId={account.id} lastAct={lastActOf(agent.id, recent, [])} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The balance over 30 days where it is the reader's to see, and what was spent in this workspace on each day. */
const Balance = () => {
  const { balance, workspace, ofTeam, currency, can } = useSession()
  const ownsBalance = balance !== null
  const attention = useQuery(attentionQuery)
  const summary = useQuery({ ...historySummaryQuery(ofTeam), enabled: ownsBalance })
  const { available_minor: available, held_minor: held } = balance ?? { available_minor: '0', held_minor: '0' }
  const spent = attention.data?.by_day ?? []
  const into = new Map(summary.data?.days.map((day) => [day.date, day.in_minor]))
  const days = spent.map(({ date, amount_minor: up }) => ({ date, up, mark: into.get(date) ?? '0' }))
  const came = sumMinor(days.map(({ mark }) => mark))
  return (
    <section className="card" aria-label={ownsBalance ? 'Balance' : 'Spending'}>
      <div className="card-body balance-card">
        <div className="stack">
          {ownsBalance ? (
            <>
              <div>
                <p className="quiet">Available</p>
                <p aria-live="polite">
                  <Amount minor={available} currency={currency} size="big" />
                </p>
                {held !== '0' && (
                  <p className="quiet small">
                    <Amount minor={held} currency={currency} /> more is held for payments in progress
                  </p>
                )}
                {ofTeam && available === '0' && held === '0' && (
                  <p>
                    {workspace.name} has a balance of its own.{' '}
                    {can('topup.create') ? (
                      <>
                        <Link href="/top-up">Add money</Link> before its first payment.
                      </>
                    ) : (
                      'It has no money yet.'
                    )}
                  </p>
                )}
              </div>
              {summary.isError && <Failure error={summary.error} onRetry={() => void summary.refetch()} />}
              {summary.data && (
                <BalanceLine total={(BigInt(available) + BigInt(held)).toString()} days={summary.data.days} currency={currency} />
              )}
            </>
          ) : (
            <p className="quiet small">Payments in {workspace.name} are paid from its owner’s balance.</p>
          )}
        </div>
        <div className="stack-s">
          <ul className="row row-wide small legend" aria-label="Last 30 days">
            <li>
              <span className="tone-accent" aria-hidden="true" />
              <span>Spent {shortMoney(sumMinor(days.map(({ up }) => up)), currency)}</span>
            </li>
            {ownsBalance && came !== '0' && (
              <li>
                <span className="tone-good" aria-hidden="true" />
                <span>In {shortMoney(came, currency)}</span>
              </li>
            )}
            <li className="faint">Last 30 days</li>
            <li>
              <Link href="/spending">By agent and payee</Link>
            </li>
          </ul>
          {attention.isError && <Failure error={attention.error} onRetry={() => void attention.refetch()} />}
          {attention.data && (
            <DayChart days={days} currency={currency} names={{ up: 'Spent', ...(ownsBalance && { mark: 'Money in' }) }} />
          )}
        </div>
      </div>
    </section>
  )
}

/** One row for each payment, in any status. The ledger's entries have a page of their own. */
export const RecentPayments = () => {
  const { can, ownsBalance } = useSession()
  const none = (
    <Empty
      icon="payments"
      title="No payments yet"
      actions={can('payment.create') && <LinkButton href="/payments/new">New payment</LinkButton>}
    />
  )
  return (
    <Listing
      title="Recent payments"
      actions={
        <>
          {ownsBalance && (
            <Link href="/history" className="small">
              History
            </Link>
          )}
          <Link href="/payments" className="small">
            View all
          </Link>
        </>
      }
      query={recentPaymentsQuery}
      empty={none}
      rows={4}
      whole
    >
      {(payments) => <PaymentsTable payments={payments.slice(0, recentPayments)} batches={recentFilters} />}
    </Listing>
  )
}
