import { useQuery } from '@tanstack/react-query'
import { hasCode } from '../../api/error.ts'
import { grantQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { EmptyCard, Page, SkeletonCard } from '../../ui/layout.tsx'
import { GrantPage } from '../developers/grant-page.tsx'
import { MemberGrantPage } from '../workspace/member-grant-page.tsx'

/** One's own key or agent with all that can be changed, or another member's for who manages the workspace. */
export const AgentPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const grant = useQuery(grantQuery(id))
  if (grant.data) return <GrantPage grant={grant.data} />
  if (hasCode(grant.error, 'not_found') && can('workspace.manage')) return <MemberGrantPage id={id} />
  return (
    <Page title="Agent" back={{ href: '/agents', label: 'Agents' }}>
      {grant.isPending && <SkeletonCard rows={3} />}
      {hasCode(grant.error, 'not_found') ? (
        <EmptyCard icon="lock" title="Not one of your agents" actions={<LinkButton href="/agents">Your agents</LinkButton>}>
          It belongs to another member, or there is no such agent. Owners and administrators of the workspace see all of them.
        </EmptyCard>
      ) : (
        <Failure error={grant.error} onRetry={() => void grant.refetch()} />
      )}
    </Page>
  )
}
