import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'

/** Stops all payments of the workspace after one confirmation. */
export const Freeze = () => {
  const { workspace } = useSession()
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  const frozen = workspace.status === 'frozen'
  return (
    <Card title={frozen ? 'Frozen' : 'Emergency stop'}>
      <div className="stack">
        <p className="quiet">
          {frozen
            ? 'No payments or changes can be made. You can still revoke, reject and cancel.'
            : 'Stops all payments by everyone and every agent in this workspace. Payments already sent still arrive.'}
        </p>
        <Button variant={frozen ? 'secondary' : 'red'} size="large" icon="freeze" wide onClick={() => setAsking(true)}>
          {frozen ? 'Unfreeze workspace' : 'Freeze workspace'}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={frozen ? `Unfreeze ${workspace.name}?` : `Freeze ${workspace.name}?`}
          action={frozen ? 'Unfreeze' : 'Freeze now'}
          harmless={frozen}
          change={() =>
            frozen
              ? call(api.POST('/v1/workspaces/current/unfreeze'))
              : call(api.POST('/v1/workspaces/current/freeze', { body: reason.trim() ? { reason: reason.trim() } : {} }))
          }
          announcement={(view) => (view.workspace.status === 'frozen' ? 'Workspace frozen' : 'Workspace unfrozen')}
          onChanged={(view) => client.setQueryData(workspaceQuery.queryKey, view)}
          onClose={() => setAsking(false)}
        >
          <div className="stack">
            <p>
              {frozen
                ? 'Everyone and every agent can make payments again.'
                : 'No one can pay or change anything until an owner or administrator unfreezes it.'}
            </p>
            {!frozen && (
              <TextField
                label="Reason"
                optional
                value={reason}
                onChange={setReason}
                maxLength={500}
                hint="Shown to other members and kept in the activity."
              />
            )}
          </div>
        </Confirm>
      )}
    </Card>
  )
}
