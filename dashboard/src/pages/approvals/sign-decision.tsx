import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../../api/queries.ts'
import type { Choice } from '../../lib/approval-subject.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Segments, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Failure } from '../../ui/page.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'

/** Text to sign for each decision. A decision without a text cannot be signed. */
export type Signing = {
  id: string
  messages: { readonly [C in Choice]?: string | undefined }
  onDecided: (approval: Schemas['Approval']) => void
}

const choices: readonly Choice[] = ['approve', 'reject']

const decideBySignature = (id: string, body: { decision: Choice; signature: string; address?: string }) =>
  api.POST('/v1/approvals/{id}/decide-by-signature', { path: { id }, body })

export const SignedText = ({ message }: { message: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the text may scroll, so the keyboard has to reach it
  <section className="message-block" tabIndex={0} aria-label={t('message_you_sign')}>
    {message}
  </section>
)

/** Form for signatures by wallets outside this browser: hardware, command line, another device. */
export const PasteSignature = ({ id, messages, onDecided }: Signing) => {
  const [signature, setSignature] = useState('')
  const [wanted, setWanted] = useState<Choice>('approve')
  const offered = choices.filter((choice) => messages[choice] !== undefined)
  const choice = offered.includes(wanted) ? wanted : offered[0]
  const send = useMutation({
    mutationFn: (decision: Choice) => decideBySignature(id, { decision, signature: signature.trim() }),
    onSuccess: onDecided,
  })
  if (choice === undefined) return null
  return (
    <details>
      <summary className="muted small">{t('elsewhere.title')}</summary>
      <Form className="stack-s" ready={signature.trim() !== ''} busy={send.isPending} onSubmit={() => send.mutate(choice)}>
        <p className="muted small">{t('elsewhere.how')}</p>
        {offered.length > 1 && (
          <Segments
            label={t('decision')}
            value={choice}
            onChange={setWanted}
            choices={offered.map((value) => ({ value, label: t(value) }))}
          />
        )}
        <div className="row">
          <CopyButton value={messages[choice] ?? ''}>{t('copy_message')}</CopyButton>
        </div>
        <TextArea label={t('signature')} value={signature} onChange={setSignature} mono />
        <Failure error={send.error} />
        <div className="row row-end">
          <Button type="submit" busy={send.isPending} disabled={signature.trim() === ''}>
            {t('submit_signature')}
          </Button>
        </div>
      </Form>
    </details>
  )
}

type OneProps = Omit<Signing, 'messages'> & { choice: Choice; message: string }

const SignButton = ({ id, choice, message, onDecided }: OneProps) => {
  const flow = useWalletFlow({
    prepare: async () => message,
    send: ({ signature, address }) => decideBySignature(id, { decision: choice, signature, address }),
    done: onDecided,
  })
  return <WalletPicker flow={flow} label={`${choice}_with`} />
}

/** Decides with a wallet of this browser, with or without a sign-in. */
export const SignDecision = ({ messages, ...rest }: Signing) => (
  <div className="stack-s">
    {choices.map((choice) => {
      const message = messages[choice]
      return message !== undefined && <SignButton key={choice} choice={choice} message={message} {...rest} />
    })}
  </div>
)
