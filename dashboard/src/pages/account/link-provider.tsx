import { useMutation } from '@tanstack/react-query'
import { adviceFor, messageOf } from '../../api/advice.ts'
import { api, call } from '../../api/client.ts'
import { ProviderMark, providerNames } from '../../ui/provider-mark.tsx'
import { announce } from '../../ui/toast.tsx'

/** The public route; its answer names the provider's page. */
export const LinkProvider = ({ provider }: { provider: 'google' | 'github' }) => {
  const link = useMutation({
    mutationFn: () => call(api.POST('/v1/accounts/me/identities', { body: { provider, return_to: '/account' } })),
    onSuccess: (answer) => {
      if ('authorization_url' in answer) location.assign(answer.authorization_url)
    },
    onError: (error) => announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad'),
  })
  const busy = link.isPending || link.isSuccess
  return (
    <button
      type="button"
      className="button button-secondary"
      aria-disabled={busy || undefined}
      onClick={() => {
        if (!busy) link.mutate()
      }}
    >
      <ProviderMark provider={provider} />
      Link {providerNames[provider]}
    </button>
  )
}
