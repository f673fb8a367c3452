import { useQuery } from '@tanstack/react-query'
import { hasCode } from '../../api/error.ts'
import { grantQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { GrantPage } from '../developers/grant-page.tsx'
import { MemberGrantPage } from '../workspace/member-grant-page.tsx'

/** One's own key or agent with all that can be changed, or another member's for who manages the workspace. */
export const AgentPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const grant = useQuery(grantQuery(id))
  if (grant.isPending)
    return (
      <div className="stack">
        <PageHeader title="Agent" back={{ href: '/agents', label: 'Agents' }} />
        <div className="card">
          <SkeletonRows rows={3} />
        </div>
      </div>
    )
  if (hasCode(grant.error, 'not_found') && can('workspace.manage')) return <MemberGrantPage id={id} />
  return <GrantPage id={id} />
}
