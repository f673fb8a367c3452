import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { api, apiKeysQuery, grantQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { fullTime } from '../../lib/time.ts'
import { useOpenIn } from '../../shell/open-in.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { DialogButton } from '../../ui/form.tsx'
import { lazyPage } from '../../ui/lazy.tsx'
import { EmptyCard, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { isLive } from '../agents/agents.tsx'
import { richAgent, tAgent } from '../agents/texts.ts'
import { EditLimits } from './edit-limits.tsx'
import { GrantActions, GrantView } from './grant-view.tsx'
import { RotateKey } from './rotate-key.tsx'

// Loads on demand: few people manage other members' agents.
const MemberGrantPage = lazyPage(async () => (await import('../workspace/member-grant-page.tsx')).MemberGrantPage)

type Grant = Schemas['Grant']
type ApiKey = Schemas['ApiKey']

const KeyEnds = ({ apiKey: { key_prefix: start, last_four: end } }: { apiKey: ApiKey }) => (
  <span className="mono">
    {start}…{end}
  </span>
)

/** Revokes the grant with all its keys. Revoking the newest key alone would leave old ones working until their overlap ends. */
const revoke = (id: string) => api.DELETE('/v1/accounts/me/grants/{id}', { path: { id } })

/** The person's own key or agent: its limits and use, its payments, and every way to stop it. */
const OwnGrantPage = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  const openIn = useOpenIn()
  const [params, setParams] = useSearchParams()
  const raise = params.get('raise')
  const [isEditing, setEditing] = useState(false)
  const allKeys = useEvery({ ...apiKeysQuery, enabled: grant.kind === 'api_key' })
  // Newest first. Only the newest can be rotated.
  const [newest, ...earlier] = rowsOf(allKeys).filter((key) => key.grant.id === grant.id)
  const overlapping = earlier.filter(({ status }) => status === 'active')
  // The beneficiaries and the currency that the form offers are those of this workspace.
  const isHere = grant.workspace_id === workspace.id
  const live = isLive(grant)
  return (
    <Page
      title={newest?.name ?? grant.label}
      back={{ href: '/agents', label: t('nav.agents') }}
      actions={
        live && (
          <GrantActions
            grant={grant}
            own
            revoke={() => revoke(grant.id)}
            effect={tAgent(grant.kind === 'oauth' ? 'revoke.agent' : 'revoke.key')}
          >
            {newest?.status === 'active' && (
              <DialogButton dialog={(close) => <RotateKey apiKey={newest} onClose={close} />}>{tAgent('rotate')}</DialogButton>
            )}
          </GrantActions>
        )
      }
    >
      <Failure error={allKeys.error} onRetry={() => void allKeys.refetch()} />
      <GrantView
        grant={grant}
        live={live}
        frozenText={tAgent('frozen.until_you')}
        limitActions={
          live && (
            <Button size="small" onClick={() => (isHere ? setEditing(true) : openIn(grant.workspace_id, `/agents/${grant.id}`))}>
              {tAgent(isHere ? 'edit_limits' : 'edit_elsewhere')}
            </Button>
          )
        }
        facts={{
          [tAgent('key')]: newest && <KeyEnds apiKey={newest} />,
          [tAgent('old_key')]:
            overlapping.length === 0 ? null : (
              <ul className="stack-xs">
                {overlapping.map((key) => (
                  <li key={key.id}>
                    {richAgent('old_key.until', {
                      key: <KeyEnds apiKey={key} />,
                      at: key.revoked_at && fullTime(key.revoked_at),
                    })}
                  </li>
                ))}
              </ul>
            ),
          [t('workspace')]: isHere ? workspace.name : tAgent('another_workspace'),
        }}
      />
      {isHere && (isEditing || raise !== null) && (
        <EditLimits
          grant={grant}
          title={tAgent('limits_of', { label: grant.label })}
          raise={raise}
          onClose={() => {
            setEditing(false)
            // The link's amounts are offered once.
            setParams({}, { replace: true })
          }}
        />
      )}
    </Page>
  )
}

/** The person's own key or agent, fully editable, or another member's for a workspace manager. */
export const GrantPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const grant = useQuery(grantQuery(id))
  if (grant.data) return <OwnGrantPage grant={grant.data} />
  if (hasCode(grant.error, 'not_found') && can('workspace.manage')) return <MemberGrantPage id={id} />
  return (
    <Page title={tAgent('agent')} back={{ href: '/agents', label: t('nav.agents') }}>
      {grant.isPending && <SkeletonCard rows={3} />}
      {hasCode(grant.error, 'not_found') ? (
        <EmptyCard
          icon="lock"
          title={tAgent('not_yours')}
          actions={<LinkButton href="/agents">{tAgent('your_agents')}</LinkButton>}
        >
          {tAgent('not_yours.note')}
        </EmptyCard>
      ) : (
        <Failure error={grant.error} onRetry={() => void grant.refetch()} />
      )}
    </Page>
  )
}
