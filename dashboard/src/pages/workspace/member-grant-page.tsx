import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { workspaceGrantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice, Page, SkeletonCard } from '../../ui/layout.tsx'
import { FreezeAgent } from '../agents/freeze-agent.tsx'
import { GrantActions, GrantView } from '../developers/grant-view.tsx'

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
      {(grants.isPending || hasNextPage) && <SkeletonCard rows={3} />}
      {grants.isSuccess && !hasNextPage && <Notice title="This workspace has no such key or agent" />}
    </Page>
  )
}

const Detail = ({ grant }: { grant: Schemas['WorkspaceGrant'] }) => {
  const people = usePeople()
  const [open, setOpen] = useState<'freeze' | 'revoke' | null>(null)
  const close = () => setOpen(null)
  const live = grant.revoked_at === null
  return (
    <Page
      title={grant.label}
      lead={`${grant.kind === 'oauth' ? 'Agent' : 'API key'} of ${people(grant.account_id)}`}
      back={back}
      actions={
        live && <GrantActions frozen={grant.frozen} onFreeze={() => setOpen('freeze')} onRevoke={() => setOpen('revoke')} />
      }
    >
      <GrantView
        grant={grant}
        live={live}
        until="until it is unfrozen"
        facts={{ Member: capitalized(people(grant.account_id)) }}
      />
      {open === 'revoke' && <RevokeMemberGrant grant={grant} onClose={close} />}
      {open === 'freeze' && <FreezeAgent {...grant} own={false} onClose={close} />}
    </Page>
  )
}

export const RevokeMemberGrant = ({ grant, onClose }: { grant: Schemas['WorkspaceGrant']; onClose: () => void }) => (
  <Confirm
    title={`Revoke ${grant.label}?`}
    action="Revoke"
    change={() => call(api.DELETE('/v1/workspaces/current/grants/{id}', { params: { path: { id: grant.id } } }))}
    announcement={() => `${grant.label} revoked`}
    outdates={['grants', 'api-keys', 'audit']}
    onClose={onClose}
  >
    <p>It stops working right away, and so does everything that was created with it. This can’t be undone.</p>
  </Confirm>
)
