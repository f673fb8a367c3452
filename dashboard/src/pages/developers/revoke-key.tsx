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
      void client.invalidateQueries({ queryKey: ['api-keys'] })
      void client.invalidateQueries({ queryKey: ['grants'] })
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
      <p>Its next request is refused, and so are those of every key made through it. This can’t be undone.</p>
    </Confirm>
  )
}
