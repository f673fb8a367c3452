import { api, call } from '../../api/client.ts'
import { Confirm } from '../../ui/confirm.tsx'

type Props = { id: string; label: string; own: boolean; onClose: () => void }

/** Freezes a key or an agent: one's own, or as an owner or administrator any of the workspace. */
export const StopAgent = ({ id, label, own, onClose }: Props) => {
  const params = { path: { id } }
  const body = { frozen: true }
  return (
    <Confirm
      title={`Freeze ${label}?`}
      action="Freeze"
      change={async () => {
        if (own) await call(api.PATCH('/v1/accounts/me/grants/{id}', { params, body }))
        else await call(api.PATCH('/v1/workspaces/current/grants/{id}', { params, body }))
      }}
      announcement={() => `${label} frozen`}
      outdates={['grants', 'grant', 'api-keys']}
      onClose={onClose}
    >
      <p>It can still read, but it can’t move money until it is unfrozen. Payments already sent still arrive.</p>
    </Confirm>
  )
}
