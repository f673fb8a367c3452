import { useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'

export const CancelPayment = ({ payment, onClose }: { payment: Schemas['Payment']; onClose: () => void }) => {
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
