import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { announce } from '../../ui/toast.tsx'

export const RevokeMemberGrant = ({ grant, onClose }: { grant: Schemas['WorkspaceGrant']; onClose: () => void }) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => call(api.DELETE('/v1/workspaces/current/grants/{id}', { params: { path: { id: grant.id } } })),
    onSuccess: () => {
      announce(`${grant.label} revoked`)
      for (const name of ['grants', 'api-keys']) void client.invalidateQueries({ queryKey: [name] })
      onClose()
    },
  })
  return (
    <Confirm
      title={`Revoke ${grant.label}?`}
      action="Revoke"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>It stops working right away, and so does everything that was created with it.</p>
    </Confirm>
  )
}
