import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'

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
