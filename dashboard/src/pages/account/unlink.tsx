import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { providerNames } from '../../ui/provider-mark.tsx'
import { announce } from '../../ui/toast.tsx'
import { identityName } from './identity-name.ts'

export const Unlink = ({ identity, onClose }: { identity: Schemas['Identity']; onClose: () => void }) => {
  const client = useQueryClient()
  const name = providerNames[identity.provider]
  const unlink = useMutation({
    mutationFn: () => call(api.DELETE('/v1/accounts/me/identities/{id}', { params: { path: { id: identity.id } } })),
    onSuccess: () => {
      announce(`${name} unlinked`)
      void client.invalidateQueries({ queryKey: ['account'] })
      onClose()
    },
  })
  return (
    <Confirm
      title={`Unlink ${identityName(identity)}?`}
      action="Unlink"
      busy={unlink.isPending}
      error={unlink.error}
      onConfirm={() => unlink.mutate()}
      onClose={onClose}
    >
      <p>
        It will no longer sign you in{identity.provider === 'wallet' && ', and its signature can no longer decide approvals'}.
        Browsers signed in with it are signed out. Your other sign-in methods stay.
      </p>
    </Confirm>
  )
}
