import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { providerNames } from '../../ui/provider-mark.tsx'
import { identityName } from './identity-name.ts'

export const Unlink = ({ identity, onClose }: { identity: Schemas['Identity']; onClose: () => void }) => (
  <Confirm
    title={`Unlink ${identityName(identity)}?`}
    action="Unlink"
    change={() => call(api.DELETE('/v1/accounts/me/identities/{id}', { params: { path: { id: identity.id } } }))}
    announcement={() => `${providerNames[identity.provider]} unlinked`}
    outdates={['account']}
    onClose={onClose}
  >
    <p>
      It will no longer sign you in{identity.provider === 'wallet' && ', and its signature can no longer decide approvals'}.
      Browsers signed in with it are signed out. Your other sign-in methods stay.
    </p>
  </Confirm>
)
