import { effectivePermissions } from '../../auth/permissions.ts'
import { maySeeBalance, type Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import { type Balance, balanceIn, getBalances } from '../../ledger/ledger.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { presentWorkspaceView, withState } from './present.ts'
import type { MemberRecord, WorkspaceMembership } from './queries.ts'
import type { WorkspaceView } from './schema.ts'

/** Presents memberships, with the balance if the caller's role there or its grant permits it. */
export const viewMemberships = async (
  db: Db,
  currency: string,
  { accountId, grant, permissions }: Principal,
  memberships: readonly WorkspaceMembership[],
): Promise<WorkspaceView[]> => {
  const mayRead = ({ role, status }: MemberRecord) =>
    grant ? permissions : effectivePermissions(status === 'active' ? role : null, null)
  const seen = memberships.filter(({ workspace, member }) =>
    maySeeBalance({ accountId, workspace, permissions: mayRead(member) }),
  )
  const holders = seen.map(({ workspace }) => workspace.balanceAccountId)
  const balances = holders.length > 0 ? await getBalances(db, holders) : new Map<Uuid, Balance>()
  return memberships.map(({ workspace, member }) => {
    const balance = seen.some((one) => one.workspace === workspace) ? balanceIn(balances, workspace.balanceAccountId) : null
    return presentWorkspaceView({ workspace: withState(workspace), ...member, balance }, currency)
  })
}

export const viewMembership = async (
  db: Db,
  currency: string,
  principal: Principal,
  membership: WorkspaceMembership,
): Promise<WorkspaceView> => only(await viewMemberships(db, currency, principal, [membership]))
