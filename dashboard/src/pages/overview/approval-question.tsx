import { api, call } from '../../api/client.ts'
import { shortMoney } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { useChange } from '../../ui/use-change.ts'

const thresholds = ['100000', '1000000'] as const

/** One question instead of a form: each answer is a policy, made by one click. */
export const ApprovalQuestion = () => {
  const { currency } = useSession()
  const create = useChange(
    (keyFor, threshold: string | null) => {
      const body = {
        name: 'Payment approval',
        required_approval_count: 1,
        ...(threshold !== null && { approval_threshold_minor: threshold }),
      }
      return call(api.POST('/v1/spending-policies', { body, headers: keyFor(body) }))
    },
    { announcement: 'Policy turned on', outdates: ['policies'] },
  )
  return (
    <div className="stack-s">
      <div className="row row-tight">
        <Button busy={create.isPending && create.variables === null} onClick={() => create.mutate(null)}>
          Every payment
        </Button>
        {thresholds.map((threshold) => (
          <Button
            key={threshold}
            busy={create.isPending && create.variables === threshold}
            onClick={() => create.mutate(threshold)}
          >
            {shortMoney(threshold, currency)} and more
          </Button>
        ))}
      </div>
      <Failure error={create.error} />
    </div>
  )
}
