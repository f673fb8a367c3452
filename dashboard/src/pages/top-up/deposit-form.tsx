import { useLocation } from 'wouter'
import { depositActions } from '../../../../src/rails/texts.ts'
import { api, call } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'

type Method = keyof typeof depositActions
const methods = Object.keys(depositActions) as Method[]

/** Where to pay in, and under which account number: for amounts that no prompt moves. */
export const DepositForm = () => {
  const [, navigate] = useLocation()
  const start = useChange(
    (keyFor, method: Method) => call(api.POST('/v1/topups/initiate', { body: { method }, headers: keyFor({ method }) })),
    { onDone: (topup) => navigate(`/top-up/${topup.id}`) },
  )
  return (
    <Card title="Deposit" note="Any amount, from any phone or bank. You get an account number to pay under.">
      <div className="stack">
        <div className="row">
          {methods.map((method) => (
            <Button key={method} busy={start.isPending && start.variables === method} onClick={() => start.mutate(method)}>
              {depositActions[method]}
            </Button>
          ))}
        </div>
        <Failure error={start.error} />
      </div>
    </Card>
  )
}
