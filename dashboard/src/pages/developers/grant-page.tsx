import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { useBeneficiaries } from '../../api/names.ts'
import { api, apiKeysQuery, grantQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import {
  type Controls,
  type ControlsDraft,
  ControlsFields,
  controlsOfDraft,
  draftOfControls,
  raisedLimits,
} from '../../ui/limits.tsx'
import { EmptyCard, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { MemberGrantPage } from '../workspace/member-grant-page.tsx'
import { GrantActions, GrantUsage, GrantView } from './grant-view.tsx'
import { SecretDialog } from './secret-dialog.tsx'

type Grant = Schemas['Grant']
type ApiKey = Schemas['ApiKey']

/** The secrets of a key's grant: one, or two while a rotation overlaps. The newest is the one to rotate. */
const useSecrets = (grant: Grant): ApiKey[] =>
  rowsOf(useInfiniteQuery({ ...apiKeysQuery, enabled: grant.kind === 'api_key' })).filter((key) => key.grant.id === grant.id)

const Ends = ({ of: { key_prefix: start, last_four: end } }: { of: ApiKey }) => (
  <span className="mono">
    {start}…{end}
  </span>
)

const revokeAgent = (id: string) => api.DELETE('/v1/accounts/me/grants/{id}', { path: { id } })
const revokeKey = (id: string) => api.DELETE('/v1/accounts/me/api-keys/{id}', { path: { id } })

/** A key's or an agent's own page: what it may spend and has spent, its payments, and every way to stop it. */
const GrantPage = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  const [params] = useSearchParams()
  const raise = params.get('raise')
  const [limits, setLimits] = useState(raise !== null)
  const [newest, old] = useSecrets(grant)
  const agent = grant.kind === 'oauth'
  const live = grant.revoked_at === null && (agent || newest === undefined || newest.status === 'active')
  return (
    <Page
      title={newest?.name ?? grant.label}
      back={{ href: '/agents', label: 'Agents' }}
      actions={
        live && (
          <GrantActions
            grant={grant}
            own
            revoke={agent || !newest ? () => revokeAgent(grant.id) : () => revokeKey(newest.id)}
            effect={
              agent
                ? 'It loses access right away, and so does everything it created. To come back, it has to ask you again.'
                : 'It stops working right away, and so does every key that was made with it. This can’t be undone.'
            }
          >
            {newest && <DialogButton dialog={(close) => <RotateKey apiKey={newest} onClose={close} />}>Rotate</DialogButton>}
          </GrantActions>
        )
      }
    >
      <GrantView
        grant={grant}
        live={live}
        until="until you unfreeze it"
        limitActions={
          live && (
            <Button size="small" onClick={() => setLimits(true)}>
              Edit limits
            </Button>
          )
        }
        facts={{
          Key: newest && <Ends of={newest} />,
          'Old key': old && <Ends of={old} />,
          Workspace: grant.workspace_id === workspace.id ? workspace.name : 'Another of your workspaces',
        }}
      />
      {limits && (
        <EditLimits
          grant={grant}
          title={`Limits of ${grant.label}`}
          raised={raisedLimits(raise)}
          onClose={() => setLimits(false)}
        />
      )}
    </Page>
  )
}

const overlaps = [
  { value: '0', label: 'Stop it right away' },
  { value: '600', label: 'Keep for 10 minutes' },
  { value: '3600', label: 'Keep for 1 hour' },
  { value: '86400', label: 'Keep for 1 day' },
]

/** A new key on the same limits; the old one may work a little longer, so that nothing stops in between. */
const RotateKey = ({ apiKey: { id, name }, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const [overlap, setOverlap] = useState('3600')
  const rotate = useChange(
    (keyed) => api.POST('/v1/accounts/me/api-keys/{id}/rotate', { path: { id }, ...keyed({ overlap_seconds: Number(overlap) }) }),
    { announcement: `${name} rotated`, outdates: ['api-keys'] },
  )
  if (rotate.data) return <SecretDialog title={`New key for ${name}`} made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} action="Rotate" making={rotate} onClose={onClose}>
      <p className="quiet">You get a new key with the same permissions, limits and usage.</p>
      <SelectField label="Old key" value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}

/** What is left empty is removed: a limit that is left out of a change stays. */
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
  const [draft, setDraft] = useState(() => ({ ...draftOfControls(grant.spending_controls), ...raised }))
  const controls = controlsOfDraft(draft)
  const save = useChange(
    () =>
      api.PATCH('/v1/accounts/me/grants/{id}', {
        path: { id: grant.id },
        body: { spending_controls: { ...removed, ...controls } },
      }),
    { announcement: 'Limits saved', outdates: ['grants', 'grant', 'api-keys'], onDone: onClose },
  )
  return (
    <FormDialog title={title} wide action="Save limits" making={save} ready={controls !== null} onClose={onClose}>
      <GrantUsage grant={grant} />
      <ControlsFields draft={draft} onChange={setDraft} currency={currency} error={save.error} beneficiaries={beneficiaries} />
    </FormDialog>
  )
}

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
