import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { accountQuery, api } from '../api/queries.ts'
import { onProven } from '../api/step-up.ts'
import { t } from '../lib/language.ts'
import { shortAddress } from '../lib/words.ts'
import { ProviderButtons, prepareSignIn } from '../pages/sign-in/provider-buttons.tsx'
import { hasPasskeys, signChallenge } from '../passkey/passkey.ts'
import { MethodButton } from '../ui/button.tsx'
import { Dialog } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Notice, TextNotice } from '../ui/page.tsx'
import { useWalletFlow, WalletPicker, WrongAccountError } from '../wallet/wallet.tsx'
import { confirmedPath } from './paths.ts'

type Asked = 'no' | 'in a window' | { blocked: string }

const startProof = () => api.POST('/v1/auth/proof/options')

/** Offered only for passkeys older than this session, because newer ones prove nothing. */
const ByPasskey = ({ onProven }: { onProven: () => void }) => {
  const proving = useQuery({ queryKey: ['proof'], queryFn: startProof, enabled: hasPasskeys(), gcTime: 0 })
  const prove = useMutation({
    // Requests a fresh challenge, because the dialog may have been open for a long time.
    mutationFn: async () => {
      const passkey = await signChallenge(await startProof())
      return api.POST('/v1/auth/proof', { body: { passkey } })
    },
    onSuccess: onProven,
  })
  if (!proving.data || proving.data.allowCredentials.length === 0) return null
  return (
    <div className="stack-s">
      <MethodButton mark={<Icon name="fingerprint" />} disabled={prove.isPending} onClick={() => prove.mutate()}>
        {t('confirm_with_passkey')}
      </MethodButton>
      <Failure error={prove.error} />
    </div>
  )
}

/** Every way in which this person can confirm their identity. */
export const StepUpDialog = ({ answer }: { answer: (proven: boolean) => void }) => {
  const [asked, setAsked] = useState<Asked>('no')
  const { data: account } = useQuery(accountQuery)
  const identities = account?.identities ?? []
  const wallets = identities.filter(({ provider }) => provider === 'wallet')
  const flow = useWalletFlow({
    // Accepts only a linked wallet, because any other proves nothing.
    prepare: (address) => {
      if (wallets.some(({ subject }) => subject.toLowerCase() === address.toLowerCase())) return prepareSignIn('link')(address)
      throw new WrongAccountError(t('proof.not_linked', { address: shortAddress(address) }))
    },
    send: ({ message, signature }) => api.POST('/v1/auth/wallet/verify', { body: { message, signature, intent: 'link' } }),
    done: () => answer(true),
  })
  useEffect(() => onProven(() => answer(true)), [answer])
  /** Uses a separate window, so that this page keeps typed text. Only the click may open it: browsers block later windows. */
  const begin = () => {
    const opened = window.open('', '', 'popup,width=520,height=720')
    return (url: Promise<string>) =>
      void url.then(
        (address) => {
          if (opened) opened.location.assign(address)
          setAsked(opened ? 'in a window' : { blocked: address })
        },
        () => opened?.close(),
      )
  }
  return (
    <Dialog title={t('proof')} onClose={() => answer(false)}>
      <p className="muted">{t('proof.why')}</p>
      {wallets.length > 0 && <WalletPicker flow={flow} label="confirm_with" />}
      <ByPasskey onProven={() => answer(true)} />
      <ProviderButtons
        returnTo={confirmedPath}
        label="confirm_with"
        openTarget={begin}
        offers={(name) => identities.some(({ provider }) => provider === name)}
      />
      {asked === 'in a window' && (
        <TextNotice title={t('proof.window')} live>
          {t('proof.goes_on')}
        </TextNotice>
      )}
      {typeof asked === 'object' && (
        <Notice tone="warn" title={t('proof.blocked')} live>
          <a href={asked.blocked} target="_blank" rel="noreferrer">
            {t('open_it')}
          </a>
        </Notice>
      )}
    </Dialog>
  )
}
