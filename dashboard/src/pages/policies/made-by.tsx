import { useLocation } from 'wouter'
import { usePeople } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { makerText as creatorText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Card } from '../../ui/page.tsx'
import { ArchiveMadePolicies, useMadePolicies } from '../agents/made-by-agent.tsx'
import { richPolicy, tPolicy } from './texts.ts'

/** Key or agent that created a policy, and a button that archives all policies it created. */
export const MadeBy = ({ policy: { created_by: creator, binds } }: { policy: Schemas['SpendingPolicy'] }) => {
  const { can } = useSession()
  const by = creatorText(creator, usePeople())
  const made = useMadePolicies(creator.grant_id)
  const [, navigate] = useLocation()
  const archives = can('policy.manage') && made.length > 0 && (
    <ArchiveMadePolicies made={made} by={by} label={tPolicy('archive.all')} onChanged={() => navigate('/policies')} />
  )
  return (
    <Card title={tPolicy('who_created')} footer={archives}>
      <p>{richPolicy('created_by', { bdi: <bdi>{by}</bdi>, binds: binds !== 'all' && tPolicy('binds') })}</p>
    </Card>
  )
}
