import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { shortMoney } from '../../lib/money.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type OfferedOutcome, outcomeWords } from './accept-outcome.tsx'
import { evidenceOf, type Said, type UnknownPayment } from './unknown.ts'

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
      return call(api.POST('/v1/admin/payments/{id}/resolve', { params: { path: { id: payment.id } }, body }))
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
      onSubmit={() => ending.mutate()}
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
