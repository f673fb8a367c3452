import { decidingRoles, effectivePermissions, type Role, requestingRoles } from '../../auth/permissions.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'

type Held = { accountId: Uuid; role: Role; status: 'active' | 'suspended' }

export type MemberChange = { role: Role; status: 'active' | 'suspended' | 'removed' }

type MemberFacts = {
  actor: Held & { delegated: boolean }
  target: Held
  owningAccountId: Uuid
  /** The active owners, the target included if it is one. */
  owners: number
}

const lastOwner = () => new Refusal('last_owner')
const ownersOnly = () => new Refusal('forbidden', { message: 'Only owners give and remove the role owner.' })

const includesRole = (role: Role, other: Role): boolean => {
  const held = effectivePermissions(role, null)
  return [...effectivePermissions(other, null)].every((permission) => held.has(permission))
}

type RoleTimes = Held & { decidingSince: Date | null; requestingSince: Date | null; createdAt: Date }

/** Since when, without a break, a member may decide and may ask for payments. `before`: what it was until now, if it was one. */
export const rolesSince = (held: Pick<MemberChange, 'role' | 'status'>, at: Date, before?: RoleTimes) => {
  const has = ({ role, status }: Pick<MemberChange, 'role' | 'status'>, roles: readonly Role[]) =>
    status === 'active' && roles.includes(role)
  const since = (roles: readonly Role[], recorded: Date | null | undefined): Date | null => {
    if (!has(held, roles)) return null
    return before && has(before, roles) ? (recorded ?? before.createdAt) : at
  }
  return {
    decidingSince: since(decidingRoles, before?.decidingSince),
    requestingSince: since(requestingRoles, before?.requestingSince),
  }
}

/** More rights than before: a role with a permission that the old one lacks, or a suspension lifted. */
export const addsRights = (target: Held, change: MemberChange): boolean =>
  change.status !== 'removed' &&
  (!includesRole(target.role, change.role) || (target.status === 'suspended' && change.status === 'active'))

/** Refuses a change: first when the actor may not make it, then when the workspace cannot be without what it removes. */
export const checkMemberChange = ({ actor, target, owningAccountId, owners }: MemberFacts, change: MemberChange): void => {
  const touchesOwner = target.role === 'owner' || change.role === 'owner'
  if (touchesOwner && (actor.role !== 'owner' || actor.delegated)) throw ownersOnly()
  if (actor.delegated && addsRights(target, change))
    throw new Refusal('forbidden', { message: 'A delegated credential can remove permissions, and cannot give them.' })
  const staysOwner = change.role === 'owner' && change.status === 'active'
  if (staysOwner) return
  if (target.accountId === owningAccountId) throw lastOwner()
  if (target.role === 'owner' && target.status === 'active' && owners <= 1) throw lastOwner()
}

export const checkInvitedRole = (actor: Role, offered: Role): void => {
  if (offered === 'owner' && actor !== 'owner') throw ownersOnly()
}
