import { useQuery } from '@tanstack/react-query'
import { type Schemas, separationQuery, workspacesQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { lazyPart } from '../../ui/lazy.tsx'

export const SeparateBalance = lazyPart(async () => (await import('./separate-balance.tsx')).SeparateBalance)

/** Pending separation of a shared balance. Null: there is none, and the owner may request one. Undefined: nothing to show. */
export const useSeparation = (): { waits: Schemas['PendingSeparation'] | null } | undefined => {
  const { account, workspace, isOwningAccount } = useSession()
  const own = useQuery({ ...workspacesQuery, enabled: isOwningAccount && workspace.kind === 'personal' })
  const shares = own.data?.data.some((view) => view.workspace.balance_shared && view.workspace.owning_account_id === account.id)
  const { data } = useQuery({ ...separationQuery, enabled: workspace.balance_shared || shares === true })
  const waits = data?.pending_separation ?? null
  return waits || (data && workspace.balance_shared && isOwningAccount) ? { waits } : undefined
}
