import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { makerText } from '../../lib/maker.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Card } from '../../ui/layout.tsx'

type Policy = Schemas['SpendingPolicy']

/** A workspace has at most a hundred active policies: one page. */
const activeBy = async (grantId: string): Promise<Policy[]> => {
  const query = { made_by_grant_id: grantId, status: 'active', limit: 100 } as const
  const { data } = await call(api.GET('/v1/spending-policies', { params: { query } }))
  return data.filter(({ created_by }) => created_by.grant_id === grantId)
}

const archiveAll = async (grantId: string): Promise<number> => {
  const policies = await activeBy(grantId)
  for (const { id } of policies) await call(api.DELETE('/v1/spending-policies/{id}', { params: { path: { id } } }))
  return policies.length
}

/** For a policy that a key or an agent created: who that was, and the way to archive everything that it created. */
export const MadeBy = ({ policy }: { policy: Policy }) => {
  const { can } = useSession()
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
        <bdi>{makerText(maker)}</bdi> created this policy.
        {binds !== 'all' && ' It applies only to payments by that key or agent, and by keys below it.'}
      </p>
      {archiving && (
        <Confirm
          title="Archive all policies that it created?"
          action="Archive all"
          change={() => archiveAll(grantId)}
          announcement={(count) => `${countWords(count, 'policy', 'policies')} archived`}
          outdates={['policies', 'policy']}
          onChanged={() => navigate('/policies')}
          onClose={() => setArchiving(false)}
        >
          <p>
            Every active policy that <bdi>{makerText(maker)}</bdi> created stops applying right away. Policies by people stay.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
