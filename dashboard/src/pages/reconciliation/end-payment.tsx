import { useState } from 'react'
import { api } from '../../api/queries.ts'
import { shortMoney } from '../../lib/words.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Confirm, FormDialog, useChange } from '../../ui/form.tsx'
import { type Difference, evidenceOf, type Said, type UnknownPayment } from './unknown.ts'

export type OfferedOutcome = NonNullable<Difference['offered_outcome']>

const outcomeWords: Readonly<
  Record<OfferedOutcome, { button: string; title: string; effect: string; effectByHand: string; done: string }>
> = {
  succeeded: {
    button: 'Record as succeeded',
    title: 'Record this payment as succeeded?',
    effect: 'The payment ends as succeeded, with the receipt of the statement.',
    effectByHand: 'It ends as succeeded, and what was held is spent.',
    done: 'Payment recorded as succeeded',
  },
  failed: {
    button: 'Record as failed',
    title: 'Record this payment as failed?',
    effect: 'The payment ends as failed, and its money returns to the account that paid.',
    effectByHand: 'It ends as failed, and its money returns to the account that paid.',
    done: 'Payment recorded as failed',
  },
}

export const acceptLabel = (outcome: OfferedOutcome): string => outcomeWords[outcome].button

type AcceptProps = { difference: Difference; outcome: OfferedOutcome; onClose: () => void }

/** Ends a payment as the statement shows it. Still open afterwards: a second administrator has to agree. */
export const AcceptOutcome = ({ difference, outcome, onClose }: AcceptProps) => (
  <Confirm
    title={outcomeWords[outcome].title}
    action={outcomeWords[outcome].button}
    harmless={outcome === 'succeeded'}
    change={() =>
      api.POST('/v1/admin/reconciliation-differences/{id}/resolve', {
        path: { id: difference.id },
        body: { note: difference.reason, accept: true },
      })
    }
    announcement={({ resolved_at: at }) =>
      at === null ? 'Requested: another administrator must do the same' : outcomeWords[outcome].done
    }
    outdates={['suspense', 'differences', 'trial balance', 'payments', 'payment']}
    onClose={onClose}
  >
    <p>{difference.reason}</p>
    <p>{outcomeWords[outcome].effect}</p>
  </Confirm>
)

type Props = { payment: UnknownPayment; said: readonly Said[]; outcome: OfferedOutcome; onClose: () => void }

/** Ends a payment by what a person has read at the provider. Still unknown afterwards: a second administrator has to agree. */
export const EndPayment = ({ payment, said, outcome, onClose }: Props) => {
  const known = evidenceOf(said, outcome)
  const [receipt, setReceipt] = useState(known.receipt)
  const [evidence, setEvidence] = useState(known.evidence)
  const words = outcomeWords[outcome]
  const ending = useChange(
    () => {
      const provider_receipt = outcome === 'succeeded' ? receipt.trim() : ''
      const body = { outcome, evidence: evidence.trim(), ...(provider_receipt && { provider_receipt }) }
      return api.POST('/v1/admin/payments/{id}/resolve', { path: { id: payment.id }, body })
    },
    {
      announcement: ({ status }) => (status === 'unknown' ? 'Requested: another administrator must do the same' : words.done),
      outdates: ['payments', 'payment', 'differences', 'trial balance'],
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title={words.title}
      action={words.button}
      making={ending}
      red={outcome === 'failed'}
      ready={evidence.trim() !== ''}
      onClose={onClose}
    >
      <p className="quiet">
        {shortMoney(payment.amount_minor, payment.currency)} to {payment.beneficiary.display_name}. {words.effectByHand}
      </p>
      {outcome === 'succeeded' && (
        <TextField label="The provider’s receipt" optional value={receipt} onChange={setReceipt} maxLength={100} />
      )}
      <TextArea
        label="Evidence"
        hint="What the provider says, and where it can be read again: a line of its statement, a ticket. No phone or account number."
        value={evidence}
        onChange={setEvidence}
        maxLength={2000}
      />
    </FormDialog>
  )
}
