import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { rowsOf } from '../../api/every-page.ts'
import { grantsQuery, workspaceGrantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/values.tsx'

type By = Schemas['Payment']['initiated_by']

/** Whether an agent is frozen now, as far as this person sees it: their own agents, and every member's for who manages the workspace. */
const useIsFrozen = ({ account_id: owner, grant_id: id }: Pick<By, 'account_id' | 'grant_id'>): boolean => {
  const { account, can } = useSession()
  const own = owner === account.id
  const mine = useInfiniteQuery({ ...grantsQuery, enabled: id !== null && own })
  const everyone = useInfiniteQuery({ ...workspaceGrantsQuery, enabled: id !== null && !own && can('workspace.manage') })
  return rowsOf(own ? mine : everyone).some((grant) => grant.id === id && grant.frozen)
}

/** Stands beside the name of an agent that can't move money now. */
export const FrozenBadge = ({ by }: { by: Pick<By, 'account_id' | 'grant_id'> }) =>
  useIsFrozen(by) && <Badge tone="info">Frozen</Badge>

/** What a freeze makes out of date. */
export const freezeOutdates = ['grants', 'grant', 'api-keys', 'audit'] as const

/** One's own agent; or as an owner or administrator any of the workspace. */
export const setFrozen = async (id: string, own: boolean, frozen: boolean): Promise<void> => {
  const change = { path: { id }, body: { frozen } }
  if (own) await api.PATCH('/v1/accounts/me/grants/{id}', change)
  else await api.PATCH('/v1/workspaces/current/grants/{id}', change)
}

/** `own`: it is the reader's. */
type Props = { id: string; label: string; own: boolean; frozen?: boolean; onClose: () => void }

/** Freezing can be undone; revoking can't. `frozen`: it is frozen now, and goes on. */
export const FreezeAgent = ({ id, label, own, frozen = false, onClose }: Props) => (
  <Confirm
    title={`${frozen ? 'Unfreeze' : 'Freeze'} ${label}?`}
    action={frozen ? 'Unfreeze' : 'Freeze'}
    harmless={frozen}
    change={() => setFrozen(id, own, !frozen)}
    announcement={() => `${label} ${frozen ? 'unfrozen' : 'frozen'}`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>
      {frozen
        ? 'It can make payments again, within its limits.'
        : 'It can still read, but it can’t move money until it is unfrozen. Payments already sent still arrive.'}
    </p>
  </Confirm>
)

/** Stops the agent that asked for a payment, from wherever the payment is shown. Absent for a person, for who may not, and once it is frozen. */
export const FreezeButton = ({ by, asIcon = false }: { by: By; asIcon?: boolean }) => {
  const { account, can } = useSession()
  const [open, setOpen] = useState(false)
  const frozen = useIsFrozen(by)
  const { grant_id: id, account_id: owner } = by
  const own = owner === account.id
  if (id === null || !(own || can('workspace.manage'))) return null
  const label = by.label ?? 'this agent'
  const button = { icon: 'freeze', label: `Freeze ${label}`, onClick: () => setOpen(true) } as const
  return (
    <>
      {!frozen && asIcon && <IconButton {...button} />}
      {!frozen && !asIcon && (
        <Button size="small" {...button}>
          Freeze
        </Button>
      )}
      {open && <FreezeAgent {...{ id, label, own }} onClose={() => setOpen(false)} />}
    </>
  )
}
