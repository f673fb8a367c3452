import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { announce } from '../../ui/toast.tsx'

export const RevokeKey = ({ apiKey, onClose }: { apiKey: Schemas['ApiKey']; onClose: () => void }) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => call(api.DELETE('/v1/accounts/me/api-keys/{id}', { params: { path: { id: apiKey.id } } })),
    onSuccess: () => {
      for (const name of ['api-keys', 'grants', 'grant']) void client.invalidateQueries({ queryKey: [name] })
      announce(`${apiKey.name} revoked`)
      onClose()
    },
  })
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      action="Revoke"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>It stops working right away, and so does every key that was made with it. This can’t be undone.</p>
    </Confirm>
  )
}
