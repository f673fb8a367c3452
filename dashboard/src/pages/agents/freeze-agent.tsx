import { api, call } from '../../api/client.ts'
import { Confirm } from '../../ui/confirm.tsx'

/** What a freeze makes out of date. */
export const freezeOutdates = ['grants', 'grant', 'api-keys', 'audit'] as const

/** One's own agent; or as an owner or administrator any of the workspace. */
export const setFrozen = async (id: string, own: boolean, frozen: boolean): Promise<void> => {
  const params = { path: { id } }
  if (own) await call(api.PATCH('/v1/accounts/me/grants/{id}', { params, body: { frozen } }))
  else await call(api.PATCH('/v1/workspaces/current/grants/{id}', { params, body: { frozen } }))
}

/** An agent, and whether it is the reader's own. */
export type Stoppable = { id: string; label: string; own: boolean }
type Props = Stoppable & { frozen?: boolean; onClose: () => void }

/** Freezing can be undone; revoking can't. `frozen`: it is frozen now, and goes on. */
export const FreezeAgent = ({ id, label, own, frozen = false, onClose }: Props) => (
  <Confirm
    title={`${frozen ? 'Unfreeze' : 'Freeze'} ${label}?`}
    action={frozen ? 'Unfreeze' : 'Freeze'}
    harmless={frozen}
    change={() => setFrozen(id, own, !frozen)}
    announcement={() => `${label} ${frozen ? 'unfrozen' : 'frozen'}`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>
      {frozen
        ? 'It can make payments again, within its limits.'
        : 'It can still read, but it can’t move money until it is unfrozen. Payments already sent still arrive.'}
    </p>
  </Confirm>
)
