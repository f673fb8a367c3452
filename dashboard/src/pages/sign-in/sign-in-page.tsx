import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { type Answer, accountQuery, api } from '../../api/queries.ts'
import { expectArrival, expectSession, hasNoSession, sessionEnded } from '../../lib/page-state.ts'
import { isServerPath, safeReturn } from '../../shell/paths.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { TextNotice } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { NoWallet, useWalletFlow, useWallets, WalletPicker } from '../../wallet/wallet.tsx'
import { ProviderButtons, prepareSignIn } from './provider-buttons.tsx'

/** A person who is already signed in continues to where they were going. */
const Leave = ({ go }: { go: () => void }) => {
  const left = useRef(false)
  useEffect(() => {
    if (left.current) return
    left.current = true
    go()
  }, [go])
  return null
}

const welcome = (outcome: Answer<'/v1/auth/wallet/verify', 'post'>['outcome']): string =>
  outcome === 'account_created' ? 'Your account is ready' : 'Signed in'

export const SignInPage = () => {
  const [params] = useSearchParams()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const hasWallet = useWallets().length > 0
  const target = safeReturn(params.get('return_to'))
  const account = useQuery({ ...accountQuery, enabled: !hasNoSession() })
  const go = () => {
    sessionEnded.set(false)
    expectArrival()
    if (isServerPath(target)) location.assign(target)
    else navigate(target, { replace: true })
  }
  const flow = useWalletFlow({
    prepare: prepareSignIn('sign_in'),
    send: ({ message, signature }) => api.POST('/v1/auth/wallet/verify', { body: { message, signature, intent: 'sign_in' } }),
    done: ({ outcome }) => {
      expectSession()
      announce(welcome(outcome))
      void client.resetQueries().then(go)
    },
  })
  if (account.isSuccess) return <Leave go={go} />
  const picker = <WalletPicker flow={flow} verb="Continue with" fallback={null} />
  return (
    <SinglePage title="Sign in">
      <div className="stack">
        <div className="stack-xs">
          <h1>Sign in</h1>
          <p className="quiet">New here? Signing in creates your account.</p>
        </div>
        {params.get('reason') === 'session_ended' && (
          <TextNotice tone="info" title="Your session has ended">
            Sign in again to continue where you were. What you typed is still there.
          </TextNotice>
        )}
        <div className="stack-s">
          {hasWallet && picker}
          <ProviderButtons returnTo={target} />
          {!hasWallet && <NoWallet />}
        </div>
        <details className="small quiet">
          <summary>Lost your wallet?</summary>
          <ol className="stack-xs numbered">
            <li>Sign in with Google, GitHub or another wallet that you linked to your account.</li>
            <li>Under Account, link a new wallet and unlink the lost one. It can no longer sign in or decide anything.</li>
            <li>
              Without another sign-in method, ask an owner of your workspace to remove you and freeze your agents, and contact
              support. A wallet’s key can’t be reset by anyone.
            </li>
          </ol>
        </details>
        {hasWallet && <p className="faint small">Signing in with a wallet is free and moves no money.</p>}
      </div>
    </SinglePage>
  )
}
