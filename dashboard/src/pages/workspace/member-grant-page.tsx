import { usePeople } from '../../api/names.ts'
import { api, rowsOf, type Schemas, workspaceGrantsQuery } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { capitalized } from '../../lib/words.ts'
import { Failure, Notice, Page, SkeletonCard } from '../../ui/page.tsx'
import { isLive } from '../agents/agents.tsx'
import { GrantActions, GrantView, RevokeButton } from '../developers/grant-view.tsx'
import { tWork } from './texts.ts'

const back = { href: '/agents', label: t('nav.agents') }

/** Any member's key or agent, for workspace managers. They see its spending and can stop it; the member sets its limits. */
export const MemberGrantPage = ({ id }: { id: string }) => {
  const grants = useEvery(workspaceGrantsQuery)
  const grant = rowsOf(grants).find((candidate) => candidate.id === id)
  const { hasNextPage } = grants
  if (grant) return <Detail grant={grant} />
  return (
    <Page title={tWork('key_or_agent')} back={back}>
      {grants.isError && <Failure error={grants.error} onRetry={() => void grants.refetch()} />}
      {(grants.isPending || hasNextPage) && <SkeletonCard rows={3} />}
      {grants.isSuccess && !hasNextPage && <Notice title={tWork('no_such_key')} />}
    </Page>
  )
}

const effect = tWork('grant.effect')

const revoke = (id: string) => api.DELETE('/v1/workspaces/current/grants/{id}', { path: { id } })

const Detail = ({ grant }: { grant: Schemas['WorkspaceGrant'] }) => {
  const people = usePeople()
  const live = isLive(grant)
  return (
    <Page
      title={grant.label}
      lead={tWork(grant.kind === 'oauth' ? 'grant.agent' : 'grant.key', { who: people(grant.account_id) })}
      back={back}
      actions={live && <GrantActions grant={grant} own={false} revoke={() => revoke(grant.id)} effect={effect} />}
    >
      <GrantView
        grant={grant}
        live={live}
        frozenText={tWork('frozen_until')}
        facts={{ [t('status.member')]: capitalized(people(grant.account_id)) }}
      />
    </Page>
  )
}

export const RevokeMemberGrant = ({ grant: { id, label } }: { grant: Schemas['WorkspaceGrant'] }) => (
  <RevokeButton label={label} small revoke={() => revoke(id)} effect={effect} />
)
