import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { useBeneficiaries } from '../../api/names.ts'
import { api, apiKeysQuery, grantQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { type Controls, type ControlsDraft, controlsFromDraft, controlsToDraft, raisedLimits } from '../../lib/spending-draft.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { lazyPage } from '../../ui/lazy.tsx'
import { ControlsFields } from '../../ui/limits.tsx'
import { EmptyCard, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { isLive } from '../agents/agents.tsx'
import { tAgent } from '../agents/texts.ts'
import { GrantActions, GrantUsage, GrantView } from './grant-view.tsx'
import { SecretDialog } from './secret-dialog.tsx'

// Loads on demand: few people manage other members' agents.
const MemberGrantPage = lazyPage(async () => (await import('../workspace/member-grant-page.tsx')).MemberGrantPage)

type Grant = Schemas['Grant']
type ApiKey = Schemas['ApiKey']

/** Secrets of a key's grant, revoked ones included, newest first. The newest is the one to rotate. */
const useSecrets = (grant: Grant): ApiKey[] =>
  rowsOf(useEvery({ ...apiKeysQuery, enabled: grant.kind === 'api_key' })).filter((key) => key.grant.id === grant.id)

const KeyEnds = ({ of: { key_prefix: start, last_four: end } }: { of: ApiKey }) => (
  <span className="mono">
    {start}…{end}
  </span>
)

/** Ends every key of the grant. The end of the newest alone would leave the old one working until its overlap ends. */
const revoke = (id: string) => api.DELETE('/v1/accounts/me/grants/{id}', { path: { id } })

/** Page of a key or an agent: its limits and use, its payments, and every way to stop it. */
const GrantPage = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  const [params] = useSearchParams()
  const raise = params.get('raise')
  const [limits, setLimits] = useState(raise !== null)
  const [newest, ...earlier] = useSecrets(grant)
  // Works until the overlap of a rotation ends.
  const old = earlier.find(({ status }) => status === 'active')
  const agent = grant.kind === 'oauth'
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
            effect={agent ? tAgent('revoke.agent') : tAgent('revoke.key')}
          >
            {newest?.status === 'active' && (
              <DialogButton dialog={(close) => <RotateKey apiKey={newest} onClose={close} />}>{tAgent('rotate')}</DialogButton>
            )}
          </GrantActions>
        )
      }
    >
      <GrantView
        grant={grant}
        live={live}
        frozenText={tAgent('frozen.until_you')}
        limitActions={
          live && (
            <Button size="small" onClick={() => setLimits(true)}>
              {tAgent('edit_limits')}
            </Button>
          )
        }
        facts={{
          [tAgent('key')]: newest && <KeyEnds of={newest} />,
          [tAgent('old_key')]: old && <KeyEnds of={old} />,
          [t('workspace')]: grant.workspace_id === workspace.id ? workspace.name : tAgent('another_workspace'),
        }}
      />
      {limits && (
        <EditLimits
          grant={grant}
          title={tAgent('limits_of', { label: grant.label })}
          raised={raisedLimits(raise)}
          onClose={() => setLimits(false)}
        />
      )}
    </Page>
  )
}

const overlaps = [
  { value: '0', label: tAgent('old.stop') },
  { value: '600', label: tAgent('old.10min') },
  { value: '3600', label: tAgent('old.hour') },
  { value: '86400', label: tAgent('old.day') },
]

/** Creates a key with the same limits. The old key can keep working for a while, so that no program stops. */
const RotateKey = ({ apiKey: { id, name }, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const [overlap, setOverlap] = useState('3600')
  const rotate = useChange(
    (keyed) => api.POST('/v1/accounts/me/api-keys/{id}/rotate', { path: { id }, ...keyed({ overlap_seconds: Number(overlap) }) }),
    { announcement: tAgent('rotated', { name }), invalidates: ['api-keys'] },
  )
  if (rotate.data) return <SecretDialog title={tAgent('new_key_for', { name })} made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={tAgent('rotate_what', { name })} action={tAgent('rotate.act')} mutation={rotate} onClose={onClose}>
      <p className="muted">{tAgent('rotate.note')}</p>
      <SelectField label={tAgent('old_key')} value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}

/** Nulls for the limits left empty, because an omitted limit would stay. */
const removed = {
  per_payment_limit_minor: null,
  daily_limit_minor: null,
  monthly_limit_minor: null,
  total_limit_minor: null,
  approval_threshold_minor: null,
  payment_types: null,
  beneficiary_ids: null,
  new_payees: null,
  on_duplicate: null,
} as const satisfies Record<keyof Controls, null>

type LimitsProps = {
  grant: Schemas['Grant']
  title: string
  raised?: Partial<ControlsDraft>
  onClose: () => void
}

const EditLimits = ({ grant, title, raised, onClose }: LimitsProps) => {
  const { currency } = useSession()
  const beneficiaries = useBeneficiaries(grant.spending_controls.beneficiary_ids)
  const [draft, setDraft] = useState(() => ({ ...controlsToDraft(grant.spending_controls), ...raised }))
  const controls = controlsFromDraft(draft)
  const save = useChange(
    () =>
      api.PATCH('/v1/accounts/me/grants/{id}', {
        path: { id: grant.id },
        body: { spending_controls: { ...removed, ...controls } },
      }),
    { announcement: tAgent('limits_saved'), invalidates: ['grants', 'grant', 'api-keys'], onDone: onClose },
  )
  return (
    <FormDialog title={title} wide action={tAgent('save_limits')} mutation={save} ready={controls !== null} onClose={onClose}>
      <GrantUsage grant={grant} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
    </FormDialog>
  )
}

/** The person's own key or agent, fully editable, or another member's for a workspace manager. */
export const AgentPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const grant = useQuery(grantQuery(id))
  if (grant.data) return <GrantPage grant={grant.data} />
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
