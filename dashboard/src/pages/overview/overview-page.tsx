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
import { rich, t } from '../../lib/language.ts'
import { shortMoney, sumMinor } from '../../lib/words.ts'
import { useAdministers } from '../../shell/nav-items.tsx'
import { useSession } from '../../shell/session.tsx'
import { BalanceLine } from '../../ui/balance-chart.tsx'
import { LinkButton, NewLink } from '../../ui/button.tsx'
import { DayChart } from '../../ui/day-chart.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Amount, Card, Empty, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { AgentCard, lastActOf } from '../agents/agent-card.tsx'
import { useWorkspaceAgents } from '../agents/agents.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'
import { FirstSteps, useSetupProgress } from './first-steps.tsx'
import { Needs, useMorningSentence } from './needs.tsx'
import { SeparateBalance, useSeparation } from './shared-balance.ts'

// Loads on demand: few people administer the service.
const ServiceWaiting = lazyPart(async () => (await import('../reconciliation/waiting.tsx')).ServiceWaiting)

/** Whether all queries that decide the layout have loaded. Shown one by one, each part would push down the parts below it. */
const useReady = (): boolean => {
  const { seesBalance, hasOwnBalance } = useSession()
  const inbox = useInbox()
  const attention = useQuery(attentionQuery)
  const balance = useQuery({ ...historySummaryQuery(hasOwnBalance), enabled: seesBalance })
  const steps = useSetupProgress()
  const lists = [useInfiniteQuery(grantsQuery), useInfiniteQuery(recentPaymentsQuery)]
  // `isLoading`: loading for the first time. A query that is disabled or has failed does not delay the page.
  return ![attention, balance, ...lists].some(({ isLoading }) => isLoading) && !inbox.isPending && !steps.isLoading
}

/** Recent activity, this person's needs, and the balance. */
export const OverviewPage = () => {
  const { can } = useSession()
  const ready = useReady()
  const sentence = useMorningSentence()
  const administers = useAdministers()
  const separation = useSeparation()
  return (
    <Page
      title={t('nav.overview')}
      lead={ready ? sentence : null}
      actions={
        (can('topup.create') || can('payment.create')) && (
          <>
            {can('topup.create') && (
              <LinkButton href="/top-up" icon="topup">
                {t('top_up')}
              </LinkButton>
            )}
            {can('payment.create') && <NewLink href="/payments/new">{t('new_payment')}</NewLink>}
          </>
        )
      }
    >
      {ready ? (
        <>
          {administers && <ServiceWaiting />}
          <Needs />
          <FirstSteps />
          {separation && <SeparateBalance {...separation} />}
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

const maxShown = 4

const AgentsStrip = () => {
  const { account, can } = useSession()
  const { own } = useWorkspaceAgents()
  const recent = rowsOf(useInfiniteQuery({ ...recentPaymentsQuery, enabled: can('payment.read') }))
  if (own.length === 0) return null
  return (
    <Card
      title={t('nav.agents')}
      actions={
        <Link href="/agents" className="small">
          {t('view_all')}
        </Link>
      }
      flush
    >
      <ul className="agent-cards">
        {own.slice(0, maxShown).map((agent) => (
          <li key={agent.id}>
            <AgentCard agent={agent} ownerId={account.id} lastAct={lastActOf(agent.id, recent, [])} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Balance over 30 days, if the reader may see it, and daily spending in this workspace. */
const Balance = () => {
  const { balance, seesBalance, workspace, hasOwnBalance, currency, can } = useSession()
  const attention = useQuery(attentionQuery)
  const summary = useQuery({ ...historySummaryQuery(hasOwnBalance), enabled: seesBalance })
  const { available_minor: available, held_minor: held } = balance ?? { available_minor: '0', held_minor: '0' }
  const spent = attention.data?.by_day ?? []
  const into = new Map(summary.data?.days.map((day) => [day.date, day.in_minor]))
  const days = spent.map(({ date, amount_minor: amount }) => ({ date, spent: amount, received: into.get(date) ?? '0' }))
  const came = sumMinor(days.map(({ received }) => received))
  const isStill =
    attention.isSuccess && (summary.isSuccess || !seesBalance) && days.every(({ spent }) => spent === '0') && came === '0'
  return (
    <section className="card" aria-label={t(seesBalance ? 'balance' : 'spending')}>
      <div className="card-body balance-card">
        <div className="stack">
          {seesBalance ? (
            <>
              <div>
                <p className="muted">{t('available')}</p>
                <p aria-live="polite">
                  <Amount minor={available} currency={currency} size="big" />
                </p>
                {held !== '0' && (
                  <p className="muted small">{rich('held_more', { amount: <Amount minor={held} currency={currency} /> })}</p>
                )}
                {hasOwnBalance && available === '0' && held === '0' && (
                  <p>
                    {rich('own_balance', {
                      workspace: workspace.name,
                      add: can('topup.create')
                        ? rich('add_money', { link: <Link href="/top-up">{t('add_money_link')}</Link> })
                        : t('no_money_yet'),
                    })}
                  </p>
                )}
              </div>
              {summary.isError && <Failure error={summary.error} onRetry={() => void summary.refetch()} />}
              {summary.data && <BalanceLine available={available} days={summary.data.days} currency={currency} />}
            </>
          ) : (
            <p className="muted small">{t('owners_balance', { workspace: workspace.name })}</p>
          )}
        </div>
        {isStill ? (
          <p className="muted small">{t('no_movement')}</p>
        ) : (
          <div className="stack-s">
            <ul className="row row-wide small legend" aria-label={t('last_30_days')}>
              <li>
                <span className="tone-accent" aria-hidden="true" />
                <span>{t('spent_amount', { amount: shortMoney(sumMinor(days.map(({ spent }) => spent)), currency) })}</span>
              </li>
              {seesBalance && came !== '0' && (
                <li>
                  <span className="tone-good" aria-hidden="true" />
                  <span>{t('in_amount', { amount: shortMoney(came, currency) })}</span>
                </li>
              )}
              <li className="faint">{t('last_30_days')}</li>
              <li>
                <Link href="/spending">{t('by_agent_and_payee')}</Link>
              </li>
            </ul>
            {attention.isError && <Failure error={attention.error} onRetry={() => void attention.refetch()} />}
            {attention.data && <DayChart days={days} currency={currency} showsReceived={seesBalance} />}
          </div>
        )}
      </div>
    </section>
  )
}

/** One row for each payment or batch, in any status. The ledger's entries have their own page. */
export const RecentPayments = () => {
  const { can, seesBalance } = useSession()
  const none = (
    <Empty
      icon="payments"
      title={t('no_payments')}
      actions={can('payment.create') && <LinkButton href="/payments/new">{t('new_payment')}</LinkButton>}
    />
  )
  return (
    <Listing
      title={t('recent_payments')}
      actions={
        <>
          {seesBalance && (
            <Link href="/history" className="small">
              {t('history')}
            </Link>
          )}
          <Link href="/payments" className="small">
            {t('view_all')}
          </Link>
        </>
      }
      query={recentPaymentsQuery}
      empty={none}
      rows={4}
      firstPageOnly
    >
      {(payments) => <PaymentsTable payments={payments.slice(0, recentPayments)} batches={recentFilters} />}
    </Listing>
  )
}
