import { effectivePermissions, type Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import { requireLocked } from '../../db/account-lock.ts'
import { first, type Tx } from '../../db/client.ts'
import { appendEvents } from '../../events/append.ts'
import type { EventType } from '../../events/types.ts'
import { notFound, permissionMissing, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { presentMember, presentWorkspace, withState, workspaceStatus } from './present.ts'
import {
  findMember,
  findMembership,
  findWorkspace,
  lockWorkspace,
  type MemberRecord,
  type NamedMember,
  type WorkspaceRecord,
} from './queries.ts'

/** Reads the membership under the workspace's lock: if two owners remove each other, the second is no longer an owner. */
export const lockMembership = async (tx: Tx, principal: Principal, permission: Permission | null) => {
  const { id } = principal.workspace
  // The second query starts only after the first has its lock.
  const [workspace, member] = await Promise.all([first(tx, lockWorkspace, { id }), findMembership(tx, id, principal.accountId)])
  if (!workspace || !member) throw notFound()
  if (member.status === 'suspended') throw new Refusal('membership_suspended')
  if (permission !== null && !effectivePermissions(member.role, null).has(permission)) throw permissionMissing(permission)
  return { workspace, member }
}

/**
 * The membership cannot change before the transaction ends, because a change of a member locks the member's account, as do all
 * acts of the member. Nothing that the member creates outlives it. A workspace that the caller was never in counts as missing.
 */
export const requireMembership = async (tx: Tx, principal: Principal, workspaceId: Uuid): Promise<MemberRecord> => {
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

export const publishWorkspaceEvent = async (tx: Tx, config: Config, type: EventType, workspace: WorkspaceRecord) => {
  const { id, balanceAccountId: accountId } = workspace
  const data = presentWorkspace(withState(workspace), config.CURRENCY)
  await appendEvents(tx, [{ type, accountId, workspaceId: id, data }])
  return workspace
}

/** Several causes can stop a workspace. An event is published when the first begins and when the last ends. */
export const publishWorkspaceStatusEvent = async (tx: Tx, config: Config, before: WorkspaceRecord): Promise<WorkspaceRecord> => {
  const after = assertPresent(await findWorkspace(tx, before.id), 'a workspace that was changed is missing')
  const was = workspaceStatus(before)
  const is = workspaceStatus(after)
  if (was === is) return after
  return publishWorkspaceEvent(tx, config, is === 'active' ? 'workspace.unfrozen' : 'workspace.frozen', after)
}

/** The event belongs to the member's account, whose streams then check their access again. */
export const publishMemberEvent = async (
  tx: Tx,
  type: 'member.joined' | 'member.updated',
  { workspaceId, id }: { workspaceId: Uuid; id: Uuid },
): Promise<NamedMember> => {
  const member = assertPresent(await first(tx, findMember, { workspaceId, id }), 'a member who was changed is missing')
  await appendEvents(tx, [{ type, accountId: member.accountId, workspaceId, data: presentMember(member) }])
  return member
}
