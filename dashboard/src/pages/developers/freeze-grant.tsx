import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { grantQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { announce } from '../../ui/toast.tsx'

/** Freezing can be undone; revoking can't. */
export const FreezeGrant = ({ grant, onClose }: { grant: Schemas['Grant']; onClose: () => void }) => {
  const client = useQueryClient()
  const { frozen, label, id } = grant
  const change = useMutation({
    mutationFn: () => call(api.PATCH('/v1/accounts/me/grants/{id}', { params: { path: { id } }, body: { frozen: !frozen } })),
    onSuccess: (after) => {
      client.setQueryData(grantQuery(id).queryKey, after)
      for (const name of ['grants', 'api-keys']) void client.invalidateQueries({ queryKey: [name] })
      announce(after.frozen ? `${label} frozen` : `${label} unfrozen`)
      onClose()
    },
  })
  return (
    <Confirm
      title={`${frozen ? 'Unfreeze' : 'Freeze'} ${label}?`}
      action={frozen ? 'Unfreeze' : 'Freeze'}
      harmless={frozen}
      busy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      <p>
        {frozen
          ? 'It can make payments again, within its limits.'
          : 'It can still read, but it can’t move money until you unfreeze it. Payments already sent still arrive.'}
      </p>
    </Confirm>
  )
}
