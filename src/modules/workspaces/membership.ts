import { effectivePermissions, type Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { requireLocked } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { notFound, permissionMissing, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { workspaceStatus } from './present.ts'
import { findMembership, lockWorkspace, type MemberRecord, type WorkspaceMembership, type WorkspaceRecord } from './queries.ts'

/**
 * The caller's workspace, locked, and the caller's membership read under the lock: of two owners who remove each other at the same moment,
 * the second is no longer an owner when its turn comes.
 */
export const lockMembership = async (
  tx: Tx,
  principal: Principal,
  permission: Permission | null,
): Promise<WorkspaceMembership> => {
  const { id } = principal.workspace
  // The second statement begins when the first has its lock.
  const [workspace, member] = await Promise.all([lockWorkspace(tx, id), findMembership(tx, id, principal.accountId)])
  if (!workspace || !member) throw notFound()
  if (member.status === 'suspended') throw new Refusal('membership_suspended')
  if (permission !== null && !effectivePermissions(member.role, null).has(permission)) throw permissionMissing(permission)
  return { workspace, member }
}

/**
 * The caller's membership of a workspace, which stays as it is until the transaction ends: who removes, suspends or lowers a member locks
 * that member's account, and so does everything that the member does. So a member makes nothing there that would outlive the
 * membership. A workspace that was never the caller's is not there.
 */
export const heldMembership = async (tx: Tx, principal: Principal, workspaceId: Uuid): Promise<MemberRecord> => {
  requireLocked(tx, [principal.accountId])
  const member = await findMembership(tx, workspaceId, principal.accountId)
  if (member?.status === 'suspended') throw new Refusal('membership_suspended')
  if (member) return member
  throw workspaceId === principal.workspace.id
    ? new Refusal('forbidden', { message: 'This account is no longer a member of the workspace.' })
    : notFound()
}

/** Checked under the lock, because the workspace may have been frozen since the request arrived. */
export const requireOpen = (workspace: WorkspaceRecord): void => {
  if (workspaceStatus(workspace) !== 'active') throw new Refusal('workspace_frozen')
}

/** For rights that cannot be delegated: a delegation only narrows. */
export const requireUndelegated = (principal: Principal): void => {
  if (principal.grant) throw new Refusal('forbidden', { message: 'A delegated credential cannot do this.' })
}
