import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { attentionQuery, grantsQuery, historySummaryQuery, paymentsQuery } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton, NewLink } from '../../ui/button.tsx'
import { Page, SkeletonCard } from '../../ui/layout.tsx'
import { AgentsStrip } from './agents-strip.tsx'
import { Balance } from './balance.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Needs } from './needs.tsx'
import { RecentPayments, recentPayments } from './recent-payments.tsx'
import { useMorningSentence } from './use-attention.ts'

/** Whether everything has loaded that decides the page's layout: shown one by one, each part would push the ones below it. */
const useReady = (): boolean => {
  const { ownsBalance } = useSession()
  const inbox = useInbox()
  const attention = useQuery(attentionQuery)
  const balance = useQuery({ ...historySummaryQuery, enabled: ownsBalance })
  const lists = [useInfiniteQuery(grantsQuery), useInfiniteQuery(paymentsQuery({}, recentPayments))]
  // `isLoading`: loading for the first time. A query that is disabled or has failed does not hold the page up.
  return ![attention, balance, ...lists].some(({ isLoading }) => isLoading) && !inbox.isPending
}

/** What happened, what needs this person, and how much money there is. */
export const OverviewPage = () => {
  const { can } = useSession()
  const ready = useReady()
  const sentence = useMorningSentence()
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
          <FirstSteps />
          <Needs />
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
