import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { approvalQuery, paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { isForMe } from '../../api/use-inbox.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { DecideDialog } from '../approvals/decide-dialog.tsx'
import type { Choice } from '../approvals/decided-words.ts'

type Payment = Schemas['Payment']

const CancelPayment = ({ payment, onClose }: { payment: Payment; onClose: () => void }) => {
  const client = useQueryClient()
  return (
    <Confirm
      title="Cancel this payment?"
      action="Cancel payment"
      keep="Keep payment"
      change={() => call(api.POST('/v1/payments/{id}/cancel', { params: { path: { id: payment.id } } }))}
      announcement={() => 'Payment cancelled'}
      onChanged={(after) => client.setQueryData(paymentQuery(payment.id).queryKey, after)}
      onClose={onClose}
    >
      <p>
        {payment.status === 'scheduled'
          ? 'It won’t be sent, and no one is asked to approve it any more. No money is held for it.'
          : 'It won’t be sent, no one is asked to approve it any more, and the held amount returns to the balance.'}
      </p>
    </Confirm>
  )
}

/** A new payment with the same beneficiary and amount; it is reviewed like any other. */
const again = ({ id }: Payment): string => `/payments/new?again=${id}`

/** The actions that this person can take on a payment in its current status. */
export const PaymentActions = ({ payment }: { payment: Payment }) => {
  const { can, account } = useSession()
  const [open, setOpen] = useState<Choice | 'cancel' | null>(null)
  const waits = payment.status === 'pending_approval' || payment.status === 'scheduled'
  const approval = useQuery({ ...approvalQuery(payment.approval_id ?? ''), enabled: waits && payment.approval_id !== null })
  const decides = waits && approval.data?.status === 'pending' && can('approval.decide') && isForMe(approval.data, account.id)
  const close = () => setOpen(null)
  return (
    <>
      {decides && (
        <Button variant="primary" icon="check" onClick={() => setOpen('approve')}>
          Approve
        </Button>
      )}
      {decides && (
        <Button variant="danger" onClick={() => setOpen('reject')}>
          Reject
        </Button>
      )}
      {waits && can('payment.create') && (
        <Button variant="quiet" onClick={() => setOpen('cancel')}>
          Cancel payment
        </Button>
      )}
      {payment.status === 'failed' && can('payment.create') && (
        <LinkButton href={again(payment)} variant="primary" icon="payments">
          Pay again
        </LinkButton>
      )}
      {(payment.status === 'succeeded' || payment.status === 'returned') && (
        <LinkButton href={`/payments/${payment.id}/receipt`} icon="receipt">
          Receipt
        </LinkButton>
      )}
      {open === 'cancel' && <CancelPayment payment={payment} onClose={close} />}
      {approval.data && (open === 'approve' || open === 'reject') && (
        <DecideDialog approvals={[approval.data]} choice={open} onDecided={close} onClose={close} />
      )}
    </>
  )
}
