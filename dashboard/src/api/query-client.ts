import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { sessionEnded } from '../lib/session-end.ts'
import { ApiError, isSignedOut } from './error.ts'
import { accountQuery } from './queries.ts'

const maxRetries = 2

/** The gate makes these requests itself and handles their refusals; retrying because of them would never end. */
const gateQueries = ['account', 'workspace']

/** A refusal stays a refusal; only failures that may pass are retried. */
const mayPass = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500) && error.code !== 'provider_not_configured'

export const createQueryClient = (): QueryClient => {
  // The gate follows the account's query: when that says 401 it asks for a sign-in.
  const noticeSignOut = (error: unknown) => {
    if (!isSignedOut(error)) return
    if (client.getQueryData(accountQuery.queryKey)) sessionEnded.set(true)
    void client.resetQueries({ queryKey: accountQuery.queryKey })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        // A request that was allowed before is refused: the session has ended.
        if (query.queryKey[0] === 'account' && isSignedOut(error) && query.state.data) sessionEnded.set(true)
        if (!gateQueries.includes(String(query.queryKey[0]))) noticeSignOut(error)
      },
    }),
    mutationCache: new MutationCache({ onError: noticeSignOut }),
    defaultOptions: {
      // The stream says what has changed, so coming back to the tab is no reason to read everything again.
      queries: { staleTime: 30_000, refetchOnWindowFocus: false, retry: (count, error) => mayPass(error) && count < maxRetries },
      mutations: { retry: false },
    },
  })
  return client
}
