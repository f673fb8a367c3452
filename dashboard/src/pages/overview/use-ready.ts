import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { attentionQuery, grantsQuery, historySummaryQuery, paymentsQuery } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { useSession } from '../../shell/session.tsx'
import { recentPayments } from './recent-payments.tsx'

/** Whether everything has loaded that decides the page's layout: shown one by one, each part would push the ones below it. */
export const useReady = (): boolean => {
  const { ownsBalance } = useSession()
  const inbox = useInbox()
  const attention = useQuery(attentionQuery)
  const balance = useQuery({ ...historySummaryQuery, enabled: ownsBalance })
  const lists = [useInfiniteQuery(grantsQuery), useInfiniteQuery(paymentsQuery({}, recentPayments))]
  // `isLoading`: loading for the first time. A query that is disabled or has failed does not hold the page up.
  return ![attention, balance, ...lists].some(({ isLoading }) => isLoading) && !inbox.isPending
}
