import { effectivePermissions, type Role } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import { holdsLock } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import { changeMember, type MemberDeps } from './member-service.ts'
import {
  listMembersByIds,
  listWorkspacesByIds,
  lockWorkspaces,
  type MemberRecord,
  membershipsIn,
  type NamedMember,
  type WorkspaceRecord,
} from './queries.ts'
import { freezeLocked } from './service.ts'

// Undoes everything that a stolen session began in workspaces, many changes at once. Only changes that the account may still undo
// are undone; the rest is listed for a person.

/** The account's roles in those of the workspaces where it is an active member. */
export const rolesIn = async (db: Db, accountId: Uuid, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Role>> => {
  const own = ids.length === 0 ? [] : await db.run(membershipsIn, { accountId, ids: [...new Set(ids)] })
  return new Map(own.flatMap(({ workspaceId, role, status }) => (status === 'active' ? [[workspaceId, role] as const] : [])))
}

export const mayManage = (role: Role | undefined): role is Role =>
  role !== undefined && effectivePermissions(role, null).has('workspace.manage')

/** Locks the workspaces, and returns those that the account manages. */
export const lockManagedWorkspaces = async (
  tx: Tx,
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, { owningAccountId: Uuid; role: MemberRecord['role'] }>> => {
  const locked = await lockWorkspaces(tx, ids)
  const lockedIds = locked.map(({ id }) => id)
  const roles = await rolesIn(tx, accountId, lockedIds)
  return new Map(
    locked.flatMap(({ id, owningAccountId }) => {
      const role = roles.get(id)
      return mayManage(role) ? [[id, { owningAccountId, role }] as const] : []
    }),
  )
}

export type MemberTerms = Pick<MemberRecord, 'role' | 'status'>

/** `wanted`: new roles by member id. Only members whose accounts the caller has locked are changed. */
export const lowerMembers = async (
  tx: Tx,
  deps: MemberDeps,
  principal: Principal,
  members: readonly NamedMember[],
  wanted: ReadonlyMap<Uuid, MemberTerms>,
): Promise<void> => {
  const workspaceIds = members.map(({ workspaceId }) => workspaceId)
  const managed = await lockManagedWorkspaces(tx, principal.accountId, workspaceIds)
  // Looked at first: changing a member takes further locks.
  const locked = (await listMembersByIds(tx, [...wanted.keys()])).filter(({ accountId }) => holdsLock(tx, accountId))
  for (const before of locked) {
    const workspace = managed.get(before.workspaceId)
    const to = wanted.get(before.id)
    if (!workspace || !to) continue
    const isFixed = [workspace.owningAccountId, principal.accountId].includes(before.accountId)
    const isBeyond = before.role === 'owner' && workspace.role !== 'owner'
    const isSame = before.role === to.role && before.status === to.status
    if (!isFixed && !isBeyond && !isSame) await changeMember(tx, deps, principal, before, to)
  }
}

export const freezeManagedWorkspaces = async (
  tx: Tx,
  config: Config,
  principal: Principal,
  workspaces: readonly WorkspaceRecord[],
) => {
  const ids = workspaces.map(({ id }) => id)
  const managed = await lockManagedWorkspaces(tx, principal.accountId, ids)
  const reason = 'Made in a session that was ended with everything that began there.'
  for (const workspace of await listWorkspacesByIds(tx, [...managed.keys()]))
    if (workspace.frozenAt === null) await freezeLocked(tx, config, principal, workspace, reason)
}
