import { useInfiniteQuery } from '@tanstack/react-query'
import { grantsQuery, rowsOf, type Schemas, workspaceGrantsQuery } from '../../api/queries.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'

/** What acts for someone in this workspace: a key, a connected agent or a device. */
export type Agent = Schemas['Grant'] & { account_id: string; own: boolean }

const isLive = ({ revoked_at: revoked, expires_at: expires }: Schemas['Grant']): boolean =>
  revoked === null && (expires === null || Date.parse(expires) > now())

const newestUse = (a: Agent, b: Agent): number =>
  Date.parse(b.last_used_at ?? b.created_at) - Date.parse(a.last_used_at ?? a.created_at)

/** One's own agents, of this workspace; with `all`, those of every member where this person manages the workspace. */
export const useWorkspaceAgents = (all = false) => {
  const { account, workspace, can } = useSession()
  const manages = can('workspace.manage')
  const mine = useInfiniteQuery(grantsQuery)
  const everyone = useInfiniteQuery({ ...workspaceGrantsQuery, enabled: all && manages })
  const own = rowsOf(mine)
    .filter((grant) => grant.workspace_id === workspace.id && isLive(grant))
    .map((grant): Agent => ({ ...grant, account_id: account.id, own: true }))
  const others = rowsOf(everyone)
    .filter((grant) => grant.account_id !== account.id && isLive(grant))
    .map((grant): Agent => ({ ...grant, own: false }))
  return {
    own: own.sort(newestUse),
    others: others.sort(newestUse),
    isPending: mine.isPending || (all && manages && everyone.isPending),
    error: mine.error ?? everyone.error,
    manages,
  }
}
