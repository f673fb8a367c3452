import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createQueryClient } from './api/query-client.ts'
import { Pages } from './pages.tsx'
import { confirmedPath } from './shell/paths.ts'
import { Crash } from './ui/crash.tsx'
import { announce, Toasts } from './ui/toast.tsx'

const words: Readonly<Record<string, string>> = {
  signed_in: 'Signed in',
  account_created: 'Your account is ready',
  linked: 'Linked to your account',
  already_linked: 'It was already linked to your account',
  denied: 'You declined. Nothing has changed',
}

/** Announces once how a sign-in or link by Google or GitHub ended, and removes that from the address. */
const Outcome = () => {
  useEffect(() => {
    const url = new URL(location.href)
    const outcome = url.searchParams.get('outcome')
    const text = outcome === null ? undefined : words[outcome]
    // That page says it itself.
    if (text === undefined || url.pathname === confirmedPath) return
    url.searchParams.delete('outcome')
    history.replaceState(null, '', url)
    announce(text, outcome === 'denied' ? 'bad' : 'good')
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
