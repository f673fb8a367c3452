import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card } from '../../ui/layout.tsx'

/** Every method without a prompt: one that is new in the API does not compile until its button has a label. */
type Method = Exclude<Schemas['Topup']['method'], 'MPESA_STK'>
const labels: Readonly<Record<Method, string>> = { MPESA_PAYBILL: 'Pay by paybill', PESALINK: 'Transfer from a bank' }
const methods = Object.keys(labels) as Method[]

/** Where to pay in, and under which account number: for amounts that no prompt moves. */
export const DepositForm = () => {
  const [, navigate] = useLocation()
  const keyFor = useIdempotencyKey()
  const start = useMutation({
    mutationFn: (method: Method) => {
      const body = { method }
      return call(api.POST('/v1/topups/initiate', { body, headers: keyFor(body) }))
    },
    onSuccess: (topup) => navigate(`/top-up/${topup.id}`),
  })
  return (
    <Card title="Deposit" note="Any amount, from any phone or bank. You get an account number to pay under.">
      <div className="stack">
        <div className="row">
          {methods.map((method) => (
            <Button key={method} busy={start.isPending && start.variables === method} onClick={() => start.mutate(method)}>
              {labels[method]}
            </Button>
          ))}
        </div>
        <Failure error={start.error} />
      </div>
    </Card>
  )
}
