import { MutationCache, QueryCache, type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isRetryable, isSignedOut } from './api/error.ts'
import { PagesClient } from './api/pages-client.ts'
import { accountQuery } from './api/queries.ts'
import { isKey, t } from './lib/language.ts'
import { sessionEnded } from './lib/page-state.ts'
import { Pages } from './pages.tsx'
import { confirmedPath } from './shell/paths.ts'
import { Crash } from './ui/crash.tsx'
import { announce, Toasts } from './ui/toast.tsx'

const maxRetries = 2
const retryAfterMs = 10_000

/** `SignedIn` makes these requests and handles their errors itself. Resetting the account query on them would never end. */
const gateQueries = ['account', 'workspace']

const createQueryClient = (): QueryClient => {
  // `SignedIn` follows the account query: after a 401 it redirects to the sign-in page.
  const noticeSignOut = (error: unknown) => {
    if (!isSignedOut(error)) return
    if (client.getQueryData(accountQuery.queryKey)) sessionEnded.set(true)
    void client.resetQueries({ queryKey: accountQuery.queryKey })
  }
  const client = new PagesClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        // A 401 for an account that has loaded before means that the session has ended.
        if (query.queryKey[0] === 'account' && isSignedOut(error) && query.state.data) sessionEnded.set(true)
        if (!gateQueries.includes(String(query.queryKey[0]))) noticeSignOut(error)
      },
    }),
    mutationCache: new MutationCache({ onError: noticeSignOut }),
    defaultOptions: {
      // The event stream reports changes, so a return to the tab reloads nothing.
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => isRetryable(error) && count < maxRetries,
        // No retry on mount soon after a failure: a failed list may remount itself, in an endless loop.
        retryOnMount: ({ state }) => Date.now() - state.errorUpdatedAt > retryAfterMs,
      },
      // Offline, an action fails immediately. A queued action would run after the person has moved on.
      mutations: { retry: false, networkMode: 'always' },
    },
  })
  return client
}

/** Announces the outcome of a sign-in or link with Google or GitHub once, and removes it from the URL. */
const Outcome = () => {
  useEffect(() => {
    const url = new URL(location.href)
    const outcome = url.searchParams.get('outcome')
    const key = `outcome.${outcome}`
    // The confirmation page shows the outcome itself.
    if (!isKey(key) || url.pathname === confirmedPath) return
    url.searchParams.delete('outcome')
    history.replaceState(null, '', url)
    announce(t(key), outcome === 'denied' ? 'bad' : 'good')
  }, [])
  return null
}

const client = createQueryClient()

export const App = () => (
  <QueryClientProvider client={client}>
    <Outcome />
    <Crash>
      <Pages />
    </Crash>
    <Toasts />
  </QueryClientProvider>
)
