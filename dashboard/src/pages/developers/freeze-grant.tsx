import { useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { grantQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'

/** Freezing can be undone; revoking can't. */
export const FreezeGrant = ({ grant, onClose }: { grant: Schemas['Grant']; onClose: () => void }) => {
  const client = useQueryClient()
  const { frozen, label, id } = grant
  return (
    <Confirm
      title={`${frozen ? 'Unfreeze' : 'Freeze'} ${label}?`}
      action={frozen ? 'Unfreeze' : 'Freeze'}
      harmless={frozen}
      change={() => call(api.PATCH('/v1/accounts/me/grants/{id}', { params: { path: { id } }, body: { frozen: !frozen } }))}
      announcement={(after) => (after.frozen ? `${label} frozen` : `${label} unfrozen`)}
      outdates={['grants', 'api-keys']}
      onChanged={(after) => client.setQueryData(grantQuery(id).queryKey, after)}
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
