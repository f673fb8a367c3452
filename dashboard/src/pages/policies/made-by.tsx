import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { countWords } from '../../lib/list-words.ts'
import { makerText } from '../../lib/maker.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Card } from '../../ui/layout.tsx'
import { archivePolicies } from '../agents/made-acts.ts'

type Policy = Schemas['SpendingPolicy']

/** For a policy that a key or an agent created: who that was, and the way to archive everything that it created. */
export const MadeBy = ({ policy }: { policy: Policy }) => {
  const { can } = useSession()
  const people = usePeople()
  const [, navigate] = useLocation()
  const [archiving, setArchiving] = useState(false)
  const { created_by: maker, binds } = policy
  const { grant_id: grantId } = maker
  if (grantId === null) return null
  return (
    <Card
      title="Who created it"
      footer={
        can('policy.manage') && (
          <Button variant="danger" onClick={() => setArchiving(true)}>
            Archive all it created
          </Button>
        )
      }
    >
      <p>
        <bdi>{makerText(maker, people)}</bdi> created this policy.
        {binds !== 'all' && ' It applies only to payments by that key or agent, and by keys below it.'}
      </p>
      {archiving && (
        <Confirm
          title="Archive all policies that it created?"
          action="Archive all"
          change={() => archivePolicies(grantId)}
          announcement={(count) => `${countWords(count, 'policy', 'policies')} archived`}
          outdates={['policies', 'policy']}
          onChanged={() => navigate('/policies')}
          onClose={() => setArchiving(false)}
        >
          <p>
            Every active policy that <bdi>{makerText(maker, people)}</bdi> created stops applying right away. Policies by people
            stay.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
