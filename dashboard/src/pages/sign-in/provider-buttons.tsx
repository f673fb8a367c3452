import { useMutation } from '@tanstack/react-query'
import { fetchOrUnreachable, toApiError } from '../../api/error.ts'
import { api } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { isIdentitySimulated } from '../../lib/page-state.ts'
import { MethodButton } from '../../ui/button.tsx'
import { Failure } from '../../ui/page.tsx'
import { ProviderMark, providerNames } from '../../ui/provider-mark.tsx'
import type { WithLabel } from '../../wallet/wallet.tsx'

const providers = ['google', 'github'] as const
type Provider = (typeof providers)[number]

/** Requests the provider's URL as JSON, so that this page can report a provider that is not configured. */
const startSignIn = async (provider: Provider, returnTo: string): Promise<string> => {
  const path = `/v1/auth/${provider}/start?return_to=${encodeURIComponent(returnTo)}`
  const response = await fetchOrUnreachable(path, { headers: { accept: 'application/json' } })
  const body: unknown = await response.json().catch(() => null)
  const known = typeof body === 'object' && body !== null && 'authorization_url' in body ? body.authorization_url : null
  if (!response.ok || typeof known !== 'string') throw toApiError(response.status, body, response.headers.get('x-request-id'))
  return known
}

type Props = {
  returnTo: string
  label?: WithLabel
  /** Runs during the click, so it may open a window. The returned function goes to the provider once its URL is known. */
  openTarget?: () => (url: Promise<string>) => void
  /** Whether to offer a provider. Default: all are offered. */
  offers?: (provider: Provider) => boolean
}

const openHere = () => (url: Promise<string>) => void url.then((address) => location.assign(address)).catch(() => {})

export const ProviderButtons = ({ returnTo, label = 'continue_with', openTarget = openHere, offers = () => true }: Props) => {
  const start = useMutation({ mutationFn: (provider: Provider) => startSignIn(provider, returnTo) })
  const busy = start.isPending || (start.isSuccess && openTarget === openHere)
  return (
    <div className="stack-s">
      {providers.filter(offers).map((provider) => (
        <MethodButton
          key={provider}
          mark={<ProviderMark provider={provider} />}
          disabled={busy}
          onClick={() => openTarget()(start.mutateAsync(provider))}
        >
          {t(label, {
            name: isIdentitySimulated() ? t('sandbox_provider', { name: providerNames[provider] }) : providerNames[provider],
          })}
        </MethodButton>
      ))}
      <Failure error={start.error} />
    </div>
  )
}

/** Text for a wallet to sign, from the service. Its wording depends only on `intent`. */
export const prepareSignIn =
  (intent: 'sign_in' | 'link') =>
  async (address: string): Promise<string> => {
    const { message } = await api.POST('/v1/auth/wallet/nonce', { body: { address, intent } })
    if (message === undefined) throw new Error('The service gave no message to sign.')
    return message
  }
