import { useInfiniteQuery } from '@tanstack/react-query'
import { grantsQuery, workspaceGrantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useSession } from '../../shell/session.tsx'
import { Badge } from '../../ui/status.tsx'

/** Stands beside the name of an agent that can't move money now. */
export const FrozenBadge = ({ by }: { by: By }) => useIsFrozen(by) && <Badge tone="info">Frozen</Badge>

type By = Pick<Schemas['Payment']['initiated_by'], 'account_id' | 'grant_id'>

/** Whether an agent is frozen now, as far as this person sees it: their own agents, and every member's for who manages the workspace. */
export const useIsFrozen = ({ account_id: owner, grant_id: id }: By): boolean => {
  const { account, can } = useSession()
  const own = owner === account.id
  const mine = useInfiniteQuery({ ...grantsQuery, enabled: id !== null && own })
  const everyone = useInfiniteQuery({ ...workspaceGrantsQuery, enabled: id !== null && !own && can('workspace.manage') })
  const grants = (own ? mine : everyone).data?.pages.flatMap((page) => page.data) ?? []
  return grants.some((grant) => grant.id === id && grant.frozen)
}
