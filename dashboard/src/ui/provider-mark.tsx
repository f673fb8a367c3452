import type { Schemas } from '../api/queries.ts'
import { maskSubject, shortAddress } from '../lib/words.ts'
import { Icon } from './icon.tsx'

const Google = () => (
  <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
    <path fill="#4285F4" d="M17.6 9.2c0-.6-.1-1.2-.2-1.7H9v3.3h4.8a4.1 4.1 0 0 1-1.8 2.7v2.2h2.9c1.7-1.6 2.7-3.9 2.7-6.5Z" />
    <path fill="#34A853" d="M9 18c2.4 0 4.5-.8 6-2.2L12 13.5c-.8.5-1.8.9-3 .9a5.3 5.3 0 0 1-5-3.7H1V13c1.5 3 4.5 5 8 5Z" />
    <path fill="#FBBC05" d="M4 10.7a5.4 5.4 0 0 1 0-3.4V5H1a9 9 0 0 0 0 8z" />
    <path fill="#EA4335" d="M9 3.6c1.3 0 2.5.5 3.4 1.3L15 2.3A9 9 0 0 0 1 5l3 2.3a5.3 5.3 0 0 1 5-3.7Z" />
  </svg>
)

const Github = () => (
  <svg width="18" height="18" viewBox="0 0 18 18" fill="currentColor" aria-hidden="true">
    <path d="M9 .4a8.8 8.8 0 0 0-2.8 17.1c.4.1.6-.2.6-.4v-1.5c-2.4.5-3-1.2-3-1.2-.4-1-1-1.3-1-1.3-.8-.5.1-.5.1-.5.9.1 1.3.9 1.3.9.8 1.4 2.1 1 2.6.7.1-.6.3-1 .6-1.2-2-.2-4-1-4-4.3 0-1 .3-1.8.9-2.4-.1-.2-.4-1.1.1-2.3 0 0 .7-.3 2.4.9a8 8 0 0 1 4.4 0c1.7-1.2 2.4-.9 2.4-.9.5 1.2.2 2.1.1 2.3.6.6.9 1.4.9 2.4 0 3.3-2 4.1-4 4.3.3.3.6.8.6 1.6v2.5c0 .2.2.5.6.4A8.8 8.8 0 0 0 9 .4Z" />
  </svg>
)

type Provider = Schemas['Identity']['provider']

export const providerNames: Readonly<Record<Provider, string>> = { google: 'Google', github: 'GitHub', wallet: 'Wallet' }

/** Name of a sign-in method: "Wallet 0x1234…abcd", "Google amina@example.com". */
export const identityName = ({ provider, subject, email }: Schemas['Identity']): string =>
  `${providerNames[provider]} ${provider === 'wallet' ? shortAddress(subject) : (email ?? maskSubject(subject))}`

export const ProviderMark = ({ provider }: { provider: Provider }) => {
  if (provider === 'google') return <Google />
  return provider === 'github' ? <Github /> : <Icon name="wallet" />
}
