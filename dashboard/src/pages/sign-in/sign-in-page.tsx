import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { accountQuery } from '../../api/queries.ts'
import type { Answer } from '../../api/types.ts'
import { useTitle } from '../../lib/title.ts'
import { isServerPath, safeReturn } from '../../shell/paths.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow } from '../../wallet/wallet-flow.ts'
import { WalletPicker } from '../../wallet/wallet-picker.tsx'
import { Leave } from './leave.tsx'
import { ProviderButtons } from './provider-buttons.tsx'
import { prepareSignIn } from './wallet-message.ts'

const welcome = (outcome: Answer<'/v1/auth/wallet/verify', 'post'>['outcome']): string =>
  outcome === 'account_created' ? 'Your account is ready' : 'Signed in'

export const SignInPage = () => {
  useTitle('Sign in')
  const [params] = useSearchParams()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const target = safeReturn(params.get('return_to'))
  const account = useQuery(accountQuery)
  const go = () => (isServerPath(target) ? location.assign(target) : navigate(target, { replace: true }))
  const flow = useWalletFlow({
    prepare: prepareSignIn,
    send: ({ message, signature }) => call(api.POST('/v1/auth/wallet/verify', { body: { message, signature } })),
    done: ({ outcome }) => {
      announce(welcome(outcome))
      void client.resetQueries().then(go)
    },
  })
  if (account.isSuccess) return <Leave go={go} />
  return (
    <SinglePage>
      <div className="stack">
        <div className="stack-xs">
          <h1>Sign in</h1>
          <p className="quiet">New here? Signing in makes your account.</p>
        </div>
        <div className="stack-s">
          <WalletPicker flow={flow} verb="Continue with" />
          <ProviderButtons returnTo={target} />
        </div>
        <p className="faint small">Signing a message with a wallet costs nothing and moves no money.</p>
      </div>
    </SinglePage>
  )
}
