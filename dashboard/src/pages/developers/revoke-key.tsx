import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'

export const RevokeKey = ({ apiKey, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => (
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
