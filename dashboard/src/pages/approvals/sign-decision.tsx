import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Failure } from '../../ui/failure.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useWalletFlow } from '../../wallet/wallet-flow.ts'
import { WalletPicker } from '../../wallet/wallet-picker.tsx'
import type { Choice } from './decided-words.ts'

type Props = { id: string; choice: Choice; message: string; onDecided: (approval: Schemas['Approval']) => void }

const decideBySignature = (id: string, body: { decision: Choice; signature: string; address?: string }) =>
  call(api.POST('/v1/approvals/{id}/decide-by-signature', { params: { path: { id } }, body }))

/** The text as it will be signed, word for word. */
export const SignedText = ({ message }: { message: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so a keyboard has to reach it
  <section className="message-block" tabIndex={0} aria-label="The message you sign">
    {message}
  </section>
)

/** For wallets that aren't in this browser: hardware, command line, another device. */
const PasteSignature = ({ id, choice, message, onDecided }: Props) => {
  const [signature, setSignature] = useState('')
  const send = useMutation({
    mutationFn: () => decideBySignature(id, { decision: choice, signature: signature.trim() }),
    onSuccess: onDecided,
  })
  return (
    <details>
      <summary className="quiet small">Sign on another device or tool</summary>
      <Form className="stack-s" ready={signature.trim() !== ''} busy={send.isPending} onSubmit={() => send.mutate()}>
        <p className="quiet small">Copy the message, sign it as text (EIP-191) with your wallet, and paste the signature here.</p>
        <div className="row">
          <CopyButton value={message}>Copy message</CopyButton>
        </div>
        <TextArea label="Signature" value={signature} onChange={setSignature} mono />
        <Failure error={send.error} />
        <div className="row row-end">
          <Button type="submit" busy={send.isPending} disabled={signature.trim() === ''}>
            Submit signature
          </Button>
        </div>
      </Form>
    </details>
  )
}

/** Decides by signature alone, signed in or not. */
export const SignDecision = ({ id, choice, message, onDecided }: Props) => {
  const flow = useWalletFlow({
    prepare: async () => message,
    send: ({ signature, address }) => decideBySignature(id, { decision: choice, signature, address }),
    done: onDecided,
  })
  return (
    <div className="stack-s">
      <WalletPicker flow={flow} verb={choice === 'approve' ? 'Approve with' : 'Reject with'} />
      <PasteSignature id={id} choice={choice} message={message} onDecided={onDecided} />
    </div>
  )
}
