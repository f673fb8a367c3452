import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { raisedLimits } from '../../ui/controls-fields.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Page } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'
import { FreezeAgent } from '../agents/freeze-agent.tsx'
import { EditLimits } from './edit-limits.tsx'
import { GrantActions, GrantView } from './grant-view.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const RevokeKey = ({ apiKey, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => (
  <Confirm
    title={`Revoke ${apiKey.name}?`}
    action="Revoke"
    change={() => call(api.DELETE('/v1/accounts/me/api-keys/{id}', { params: { path: { id: apiKey.id } } }))}
    announcement={() => `${apiKey.name} revoked`}
    outdates={['api-keys', 'grants', 'grant']}
    onClose={onClose}
  >
    <p>It stops working right away, and so does every key that was made with it. This can’t be undone.</p>
  </Confirm>
)

type Grant = Schemas['Grant']
type ApiKey = Schemas['ApiKey']

const back = { href: '/agents', label: 'Agents' } as const

/** The secrets of a key's grant: one, or two while a rotation overlaps. The newest is the one to rotate. */
const useSecrets = (grant: Grant): ApiKey[] => {
  const { data } = useInfiniteQuery({ ...apiKeysQuery, enabled: grant.kind === 'api_key' })
  return data?.pages.flatMap((page) => page.data).filter((apiKey) => apiKey.grant.id === grant.id) ?? []
}

const Ends = ({ of: { key_prefix: start, last_four: end } }: { of: ApiKey }) => (
  <span className="mono">
    {start}…{end}
  </span>
)

type Open = 'limits' | 'rotate' | 'revoke' | 'freeze' | null

/** A key's or an agent's own page: what it may spend and has spent, its payments, and every way to stop it. */
export const GrantPage = ({ grant }: { grant: Grant }) => {
  const { workspace } = useSession()
  const [params] = useSearchParams()
  const raise = params.get('raise')
  const [open, setOpen] = useState<Open>(raise ? 'limits' : null)
  const close = () => setOpen(null)
  const secrets = useSecrets(grant)
  const [newest, old] = secrets
  const agent = grant.kind === 'oauth'
  const live = grant.revoked_at === null && (agent || newest === undefined || newest.status === 'active')
  return (
    <Page
      title={newest?.name ?? grant.label}
      back={back}
      actions={
        live && (
          <GrantActions frozen={grant.frozen} onFreeze={() => setOpen('freeze')} onRevoke={() => setOpen('revoke')}>
            {!agent && <Button onClick={() => setOpen('rotate')}>Rotate</Button>}
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
            <Button size="small" onClick={() => setOpen('limits')}>
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
      {open === 'limits' && (
        <EditLimits grant={grant} title={`Limits of ${grant.label}`} raised={raisedLimits(raise)} onClose={close} />
      )}
      {open === 'freeze' && <FreezeAgent {...grant} own onClose={close} />}
      {open === 'rotate' && newest && <RotateKey apiKey={newest} onClose={close} />}
      {open === 'revoke' && agent && <RevokeAgents agents={[grant]} onClose={close} />}
      {open === 'revoke' && !agent && newest && <RevokeKey apiKey={newest} onClose={close} />}
    </Page>
  )
}

type Props = { agents: readonly Schemas['Grant'][]; onClose: () => void }

const RevokeAgents = ({ agents, onClose }: Props) => {
  const [only] = agents
  const one = agents.length === 1 && only
  return (
    <Confirm
      title={one ? `Revoke ${one.label}?` : `Revoke ${countWords(agents.length, 'agent')}?`}
      action="Revoke"
      change={async () => {
        for (const { id } of agents) await call(api.DELETE('/v1/accounts/me/grants/{id}', { params: { path: { id } } }))
        // Events make the page's own list shorter meanwhile: this is the one that was confirmed.
        return agents
      }}
      announcement={(revoked) => {
        const [first] = revoked
        return first && revoked.length === 1 ? `${first.label} revoked` : `${countWords(revoked.length, 'agent')} revoked`
      }}
      outdates={['grants', 'grant']}
      onClose={onClose}
    >
      <p>
        {one ? 'It loses' : 'They lose'} access right away, and so does everything {one ? 'it' : 'they'} created. To come back,{' '}
        {one ? 'it has' : 'each has'} to ask you again.
      </p>
    </Confirm>
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
    (keyFor) => {
      const body = { overlap_seconds: Number(overlap) }
      return call(api.POST('/v1/accounts/me/api-keys/{id}/rotate', { params: { path: { id } }, body, headers: keyFor(body) }))
    },
    { announcement: `${name} rotated`, outdates: ['api-keys'] },
  )
  if (rotate.data) return <SecretDialog title={`New key for ${name}`} made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} action="Rotate" making={rotate} onSubmit={() => rotate.mutate()} onClose={onClose}>
      <p className="quiet">You get a new key with the same permissions, limits and usage.</p>
      <SelectField label="Old key" value={overlap} onChange={setOverlap} options={overlaps} />
    </FormDialog>
  )
}
