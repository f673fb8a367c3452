import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { approvalQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { moneyText } from '../../lib/money.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'

export type Choice = 'approve' | 'reject'
type Approval = Schemas['Approval']

/** What a decision has done, by what the service answered: one of two approvals sends nothing yet. */
export const decidedWords = (approval: Approval): string => {
  if (approval.status === 'approved') return 'Approved: the payment is on its way'
  if (approval.status === 'rejected') return 'Rejected: nothing is sent'
  return `Noted: ${approval.approvals_given} of ${approval.required_approvals} approvals given`
}

export const useAfterDecision = () => {
  const client = useQueryClient()
  return (approval: Approval) => {
    client.setQueryData(approvalQuery(approval.id).queryKey, approval)
    for (const name of ['approvals', 'payments', 'payment']) void client.invalidateQueries({ queryKey: [name] })
    announce(decidedWords(approval))
  }
}

/** Asks once more, with what it is about, and takes a reason along. */
export const DecideDialog = ({ approval, choice, onClose }: { approval: Approval; choice: Choice; onClose: () => void }) => {
  const after = useAfterDecision()
  const [reason, setReason] = useState('')
  const decide = useMutation({
    mutationFn: () =>
      call(
        api.POST('/v1/approvals/{id}/decide', {
          params: { path: { id: approval.id } },
          body: { decision: choice, ...(reason.trim() && { reason: reason.trim() }) },
        }),
      ),
    onSuccess: (decided) => {
      after(decided)
      onClose()
    },
  })
  const { payment } = approval
  const approves = choice === 'approve'
  return (
    <Dialog
      title={approves ? 'Approve this payment?' : 'Reject this payment?'}
      onClose={onClose}
      onSubmit={() => {
        if (!decide.isPending) decide.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" variant={approves ? 'primary' : 'red'} busy={decide.isPending}>
            {approves ? `Approve ${moneyText(payment.amount_minor, payment.currency)}` : 'Reject'}
          </Button>
        </>
      }
    >
      <p className="quiet">
        <strong>{moneyText(payment.amount_minor, payment.currency)}</strong> to{' '}
        <strong>{payment.beneficiary.display_name}</strong>, <span className="mono">{payment.beneficiary.destination_mask}</span>.{' '}
        {approves
          ? 'Once enough people have approved, it is sent and can’t be called back.'
          : 'It will not be sent, and what was held is available again.'}
      </p>
      <TextField
        label="Reason"
        optional
        value={reason}
        onChange={setReason}
        maxLength={500}
        hint={approves ? 'Kept with the decision.' : 'Whoever asked sees it.'}
      />
      <Failure error={decide.error} />
    </Dialog>
  )
}
