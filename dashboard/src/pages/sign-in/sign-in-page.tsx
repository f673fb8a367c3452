import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { type Answer, accountQuery, api } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { expectSession, hasNoSession, requestFocusOnNextPage, sessionEnded } from '../../lib/page-state.ts'
import { isServerPath, safeReturn } from '../../shell/paths.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { TextNotice } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { NoWallet, useWalletFlow, useWallets, WalletPicker } from '../../wallet/wallet.tsx'
import { ProviderButtons, prepareSignIn } from './provider-buttons.tsx'

const SignInHelp = lazyPart(async () => (await import('./sign-in-help.tsx')).SignInHelp)

/** Sends a signed-in person on to their destination, once. */
const RedirectOnce = ({ onReady }: { onReady: () => void }) => {
  const left = useRef(false)
  useEffect(() => {
    if (left.current) return
    left.current = true
    onReady()
  }, [onReady])
  return null
}

const welcome = (outcome: Answer<'/v1/auth/wallet/verify', 'post'>['outcome']): string =>
  t(outcome === 'account_created' ? 'outcome.account_created' : 'outcome.signed_in')

export const SignInPage = () => {
  const [params] = useSearchParams()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const hasWallet = useWallets().length > 0
  const target = safeReturn(params.get('return_to'))
  const account = useQuery({ ...accountQuery, enabled: !hasNoSession() })
  const go = () => {
    sessionEnded.set(false)
    requestFocusOnNextPage()
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
  if (account.isSuccess) return <RedirectOnce onReady={go} />
  const picker = <WalletPicker flow={flow} label="continue_with" fallback={null} />
  return (
    <SinglePage title={t('sign_in')}>
      <div className="stack">
        <div className="stack-xs">
          <h1>{t('sign_in')}</h1>
          <p className="muted">{t('sign_in.new')}</p>
        </div>
        {params.get('reason') === 'session_ended' && (
          <TextNotice tone="info" title={t('sign_in.ended')}>
            {t('sign_in.again')}
          </TextNotice>
        )}
        <div className="stack-s">
          {hasWallet && picker}
          <ProviderButtons returnTo={target} />
          {!hasWallet && <NoWallet />}
        </div>
        <SignInHelp hasWallet={hasWallet} />
      </div>
    </SinglePage>
  )
}
