import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { workspaceGrantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice, Page, SkeletonRows } from '../../ui/layout.tsx'
import { AgentTimeline } from '../agents/agent-timeline.tsx'
import { MadeByAgent } from '../agents/made-by-agent.tsx'
import { StopAgent } from '../agents/stop-agent.tsx'
import { ThawAgent } from '../agents/thaw-agent.tsx'
import { GrantAside } from '../developers/grant-aside.tsx'
import { GrantLimits } from '../developers/grant-limits.tsx'
import { GrantPayments } from '../developers/grant-payments.tsx'
import { RevokeMemberGrant } from './revoke-member-grant.tsx'

const back = { href: '/agents', label: 'Agents' }

/** For who manages the workspace: a key or an agent of any member. They see what it spends and can stop it; its limits are its member's to set. */
export const MemberGrantPage = ({ id }: { id: string }) => {
  const grants = useInfiniteQuery(workspaceGrantsQuery)
  const grant = grants.data?.pages.flatMap(({ data }) => data).find((candidate) => candidate.id === id)
  const { hasNextPage, isFetching, fetchNextPage } = grants
  useEffect(() => {
    if (!grant && hasNextPage && !isFetching) void fetchNextPage()
  }, [grant, hasNextPage, isFetching, fetchNextPage])
  if (grant) return <Detail grant={grant} />
  return (
    <Page title="Key or agent" back={back}>
      {grants.isError && <Failure error={grants.error} onRetry={() => void grants.refetch()} />}
      {(grants.isPending || hasNextPage) && (
        <div className="card">
          <SkeletonRows rows={3} />
        </div>
      )}
      {grants.isSuccess && !hasNextPage && <Notice title="This workspace has no such key or agent" />}
    </Page>
  )
}

const Detail = ({ grant }: { grant: Schemas['WorkspaceGrant'] }) => {
  const people = usePeople()
  const [open, setOpen] = useState<'freeze' | 'revoke' | null>(null)
  const close = () => setOpen(null)
  const freeze = { id: grant.id, label: grant.label, own: false, onClose: close }
  const live = grant.revoked_at === null
  return (
    <Page
      title={grant.label}
      lead={`${grant.kind === 'oauth' ? 'Agent' : 'API key'} of ${people(grant.account_id)}`}
      back={back}
      actions={
        live && (
          <>
            <Button icon="freeze" onClick={() => setOpen('freeze')}>
              {grant.frozen ? 'Unfreeze' : 'Freeze'}
            </Button>
            <Button variant="danger" onClick={() => setOpen('revoke')}>
              Revoke
            </Button>
          </>
        )
      }
    >
      {grant.frozen && live && (
        <Notice tone="info" title="Frozen">
          <p className="quiet">It can still read, but it can’t move money until it is unfrozen.</p>
        </Notice>
      )}
      {!live && <Notice title={grant.kind === 'oauth' ? 'This agent was revoked' : 'This key no longer works'} />}
      <div className="split">
        <div className="stack">
          <GrantLimits grant={grant} />
          <AgentTimeline grant={grant} />
          <MadeByAgent grantId={grant.id} label={grant.label} />
          <GrantPayments grant={grant} />
        </div>
        <GrantAside grant={grant} facts={[['Member', capitalized(people(grant.account_id))]]} />
      </div>
      {open === 'revoke' && <RevokeMemberGrant grant={grant} onClose={close} />}
      {open === 'freeze' && (grant.frozen ? <ThawAgent {...freeze} /> : <StopAgent {...freeze} />)}
    </Page>
  )
}
