import { useState } from 'react'
import { api } from '../../api/queries.ts'
import { shortMoney } from '../../lib/words.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Confirm, FormDialog, useChange } from '../../ui/form.tsx'
import { tRecon } from './texts.ts'
import { type Difference, prefilledEvidence, type StatementEvidence, type UnknownPayment } from './unknown.ts'

export type OfferedOutcome = NonNullable<Difference['offered_outcome']>

export const acceptLabel = (outcome: OfferedOutcome): string => tRecon(`end.${outcome}`)

type AcceptProps = { difference: Difference; outcome: OfferedOutcome; onClose: () => void }

/** Ends a payment as the statement shows it. If it has not ended yet, a second administrator must agree. */
export const AcceptDifferenceDialog = ({ difference, outcome, onClose }: AcceptProps) => (
  <Confirm
    title={tRecon(`end.${outcome}.ask`)}
    action={acceptLabel(outcome)}
    harmless={outcome === 'succeeded'}
    change={() =>
      api.POST('/v1/admin/reconciliation-differences/{id}/resolve', {
        path: { id: difference.id },
        body: { note: difference.reason, accept: true },
      })
    }
    announcement={({ resolved_at: at }) => tRecon(at === null ? 'end.second' : `end.${outcome}.done`)}
    invalidates={['suspense', 'differences', 'trial balance', 'payments', 'payment']}
    onClose={onClose}
  >
    <p>{difference.reason}</p>
    <p>{tRecon(`end.${outcome}.effect`)}</p>
  </Confirm>
)

type Props = { payment: UnknownPayment; statements: readonly StatementEvidence[]; outcome: OfferedOutcome; onClose: () => void }

/** Ends a payment by evidence that a person found at the provider. If still unknown, a second administrator must agree. */
export const ResolvePaymentDialog = ({ payment, statements, outcome, onClose }: Props) => {
  const known = prefilledEvidence(statements, outcome)
  const [receipt, setReceipt] = useState(known.receipt)
  const [evidence, setEvidence] = useState(known.evidence)
  const ending = useChange(
    () => {
      const provider_receipt = outcome === 'succeeded' ? receipt.trim() : ''
      const body = { outcome, evidence: evidence.trim(), ...(provider_receipt && { provider_receipt }) }
      return api.POST('/v1/admin/payments/{id}/resolve', { path: { id: payment.id }, body })
    },
    {
      announcement: ({ status }) => tRecon(status === 'unknown' ? 'end.second' : `end.${outcome}.done`),
      invalidates: ['payments', 'payment', 'differences', 'trial balance'],
      onDone: onClose,
    },
  )
  return (
    <FormDialog
      title={tRecon(`end.${outcome}.ask`)}
      action={acceptLabel(outcome)}
      mutation={ending}
      destructive={outcome === 'failed'}
      ready={evidence.trim() !== ''}
      onClose={onClose}
    >
      <p className="muted">
        {tRecon(`end.${outcome}.by_hand`, {
          amount: shortMoney(payment.amount_minor, payment.currency),
          name: payment.beneficiary.display_name,
        })}
      </p>
      {outcome === 'succeeded' && (
        <TextField label={tRecon('their_receipt')} optional value={receipt} onChange={setReceipt} maxLength={100} />
      )}
      <TextArea
        label={tRecon('end.evidence')}
        hint={tRecon('end.evidence.hint')}
        value={evidence}
        onChange={setEvidence}
        maxLength={2000}
      />
    </FormDialog>
  )
}
