import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  grantsQuery,
  historyQuery,
  historySummaryQuery,
  paymentsQuery,
  paymentsSummaryQuery,
  policiesQuery,
} from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { useSession } from '../../shell/session.tsx'

/** Whether everything has loaded that decides the page's layout: shown one by one, each part would push the ones below it. */
export const useReady = (): boolean => {
  const { ownsBalance } = useSession()
  const inbox = useInbox()
  const own = useQuery({ ...historySummaryQuery, enabled: ownsBalance })
  const spending = useQuery({ ...paymentsSummaryQuery({}), enabled: !ownsBalance })
  const history = useInfiniteQuery({ ...historyQuery({}), enabled: ownsBalance })
  const lists = [useInfiniteQuery(policiesQuery('active')), useInfiniteQuery(grantsQuery), useInfiniteQuery(paymentsQuery({}))]
  // `isLoading`: loading for the first time. A query that is disabled or has failed does not hold the page up.
  return ![own, spending, history, ...lists].some(({ isLoading }) => isLoading) && !inbox.isPending
}
