import { and, eq, isNull } from 'drizzle-orm'
import { decidingRoles, effectivePermissions, type Role, requestingRoles } from '../../auth/permissions.ts'
import { type Principal, requireActiveAccount, requireFreshProof } from '../../auth/principal.ts'
import { first, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite, updateRow, updateRows } from '../../db/prepare-write.ts'
import { invitations, members } from '../../db/tables/workspaces.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { isoTime } from '../../lib/clock.ts'
import { found, permissionMissing, Refusal } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { queueMail } from '../mail/service.ts'
import type { Parts } from '../parts.ts'
import { recordSessionAct } from '../session-acts.ts'
import { lockMembership, publishMemberEvent, requireOpen } from './membership.ts'
import { presentRemoved } from './present.ts'
import {
  activeOwners,
  findMember,
  lockWorkspaces,
  type MemberRecord,
  type NamedMember,
  type WorkspaceMembership,
} from './queries.ts'
import type { UpdateMember } from './schema.ts'

type MemberChange = { role: Role; status: 'active' | 'suspended' | 'removed' }

export const ownersOnly = () => new Refusal('forbidden', { message: 'Only an owner can give or remove the owner role.' })

const includesRole = (role: Role, other: Role): boolean => {
  const held = effectivePermissions(role, null)
  return [...effectivePermissions(other, null)].every((permission) => held.has(permission))
}

/** Whether the member decides payments. A stolen session must not remove people who would reject its payments. */
export const mayDecide = ({ role, status }: MemberChange): boolean => status === 'active' && decidingRoles.includes(role)

/** Times since which the member has held its roles without a break. `before`: the member before the change, if any. */
export const rolesSince = (held: MemberChange, at: Date, before?: MemberRecord) => {
  const has = ({ role, status }: MemberChange, roles: readonly Role[]) => status === 'active' && roles.includes(role)
  const since = (roles: readonly Role[], recorded: Date | null | undefined): Date | null => {
    if (!has(held, roles)) return null
    return before && has(before, roles) ? (recorded ?? before.createdAt) : at
  }
  return {
    decidingSince: since(decidingRoles, before?.decidingSince),
    requestingSince: since(requestingRoles, before?.requestingSince),
  }
}

export const addsRights = (before: Pick<MemberRecord, 'role' | 'status'>, after: MemberChange): boolean =>
  after.status !== 'removed' &&
  (!includesRole(before.role, after.role) || (before.status === 'suspended' && after.status === 'active'))

/** Mails all members of the workspace who may decide. */
export const mailNewApprover = (tx: Tx, member: Pick<MemberRecord, 'id' | 'accountId' | 'workspaceId' | 'role'>): void => {
  const { id, accountId, workspaceId, role } = member
  queueMail(tx, {
    kind: 'new_approver',
    cause: `member/${id}/${tx.at.toISOString()}`,
    workspaceId,
    to: 'deciders',
    by: { accountId, label: null },
    values: { role },
    times: { at: isoTime(tx.at) },
    path: '/workspace',
  })
}

const openInvitationsBy = prepare('invitations.open_by', { workspaceId: 'uuid?', accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: invitations.id, role: invitations.role, workspaceId: invitations.workspaceId })
    .from(invitations)
    .where(
      and(
        param.workspaceId && eq(invitations.workspaceId, param.workspaceId),
        eq(invitations.invitedBy, param.accountId),
        isNull(invitations.acceptedAt),
        isNull(invitations.revokedAt),
      ),
    ),
)

export const mayOffer = (role: Role | null, offered: Role): boolean =>
  role !== null && effectivePermissions(role, null).has('workspace.manage') && (offered !== 'owner' || role === 'owner')

/** Invitations end with the right to create them: a removed member could use one to return. `role`: null if removed. */
const endInvitations = async (tx: Tx, actor: Actor, by: { accountId: Uuid; workspaceId?: Uuid }, role: Role | null) => {
  const open = await tx.run(openInvitationsBy, { accountId: by.accountId, workspaceId: by.workspaceId })
  const ended = open.filter((invitation) => !mayOffer(role, invitation.role)).map((one) => ({ ...one, revokedAt: tx.at }))
  tx.defer(updateRows(tx, invitations, ['revokedAt'], ended))
  for (const { id, workspaceId } of ended) audit(tx, actor, 'invitation.revoke', { workspaceId, subject: id })
}

/** Ends the invitations of a closed account. Accepting one takes the lock of its workspace too. */
export const endInvitationsOf = async (tx: Tx, actor: Actor, accountId: Uuid): Promise<void> => {
  const workspaceIds = (await tx.run(openInvitationsBy, { accountId })).map(({ workspaceId }) => workspaceId)
  await lockWorkspaces(tx, workspaceIds)
  await endInvitations(tx, actor, { accountId }, null)
}

const removeRow = prepareWrite('members.remove', { id: 'uuid' }, (orm, param) =>
  orm.delete(members).where(eq(members.id, param.id)),
)

/** Passed as a parameter, because delegation imports workspaces. */
export type EndDelegations = (tx: Tx, actor: Actor, member: { accountId: Uuid; workspaceId: Uuid }) => Promise<void>

/** First refuses a change that the actor may not make, then a change that would leave the workspace without an owner. */
const refuseChange = async (
  tx: Tx,
  { originGrantId }: Principal,
  { workspace, member }: WorkspaceMembership,
  target: NamedMember,
  change: MemberChange,
): Promise<void> => {
  if ((target.role === 'owner' || change.role === 'owner') && (member.role !== 'owner' || originGrantId)) throw ownersOnly()
  if (originGrantId && addsRights(target, change))
    throw new Refusal('forbidden', {
      message:
        'A key cannot give permissions, nor can a session that began with a sign-in method that a key added. Both can remove them.',
    })
  if (change.role === 'owner' && change.status === 'active') return
  if (target.accountId === workspace.owningAccountId) throw new Refusal('last_owner')
  if (target.role !== 'owner' || target.status !== 'active') return
  // The list of owners includes the target.
  const owners = await tx.run(activeOwners, { workspaceId: workspace.id })
  if (owners.length <= 1) throw new Refusal('last_owner')
}

const auditView = ({ accountId, role, status }: NamedMember) => ({ account: formatId('account', accountId), role, status })

export type MemberDeps = Pick<Parts, 'onAuthorityLost' | 'onRequesterLost'>

const endAuthority = async (tx: Tx, deps: MemberDeps, actor: Principal, { accountId, workspaceId }: NamedMember) => {
  await deps.onAuthorityLost(tx, actor, accountId)
  await deps.onRequesterLost(tx, actor, { accountId, workspaceIds: [workspaceId] })
}

/** The caller may make the change, and has locked the workspace and the member's account. */
export const changeMember = async (
  tx: Tx,
  deps: MemberDeps,
  principal: Principal,
  before: NamedMember,
  change: Pick<MemberRecord, 'role' | 'status'>,
) => {
  const { id, workspaceId } = before
  const after = { ...before, ...change }
  updateRow(tx, members, { id }, { ...change, ...rolesSince(change, tx.at, before), updatedAt: tx.at })
  await endInvitations(tx, principal, before, change.status === 'suspended' ? null : change.role)
  audit(tx, principal, 'member.update', { workspaceId, subject: id, before: auditView(before), after: auditView(after) })
  const updated = await publishMemberEvent(tx, 'member.updated', before)
  await endAuthority(tx, deps, principal, before)
  return updated
}

export const updateMember = async (tx: Tx, deps: MemberDeps, principal: Principal, id: Uuid, input: UpdateMember) => {
  const membership = await lockMembership(tx, principal, 'workspace.manage')
  requireOpen(membership.workspace)
  const target = found(await first(tx, findMember, { workspaceId: membership.workspace.id, id }))
  const change = { role: input.role ?? target.role, status: input.status ?? target.status }
  if (change.role === target.role && change.status === target.status) return target
  await refuseChange(tx, principal, membership, target, change)
  if (mayDecide(target) || addsRights(target, change)) requireFreshProof(principal, tx.at)
  if (addsRights(target, change)) {
    const { workspaceId, role, status } = target
    recordSessionAct(tx, principal, { kind: 'role', workspaceId, recordId: id, before: JSON.stringify({ role, status }) })
    if (mayDecide(change)) mailNewApprover(tx, { ...target, role: change.role })
  }
  return changeMember(tx, deps, principal, target, change)
}

/** Every member may leave in person. Removing another member requires `workspace.manage`. */
export const removeMember = async (tx: Tx, deps: MemberDeps, principal: Principal, id: Uuid, endDelegations: EndDelegations) => {
  const membership = await lockMembership(tx, principal, null)
  const manages =
    effectivePermissions(membership.member.role, null).has('workspace.manage') && principal.permissions.has('workspace.manage')
  const isLeaving = membership.member.id === id
  if (!isLeaving && !manages) throw permissionMissing('workspace.manage')
  if (!isLeaving) requireActiveAccount(principal)
  else if (principal.originGrantId)
    throw new Refusal('forbidden', { message: 'Only a person in their own session can leave a workspace.' })
  const target = found(await first(tx, findMember, { workspaceId: membership.workspace.id, id }))
  await refuseChange(tx, principal, membership, target, { role: target.role, status: 'removed' })
  if (mayDecide(target)) requireFreshProof(principal, tx.at)
  await endDelegations(tx, principal, target)
  tx.defer(tx.run(removeRow, { id }))
  await endInvitations(tx, principal, target, null)
  audit(tx, principal, isLeaving ? 'member.leave' : 'member.remove', { subject: id, before: auditView(target) })
  const { accountId, workspaceId } = target
  await appendEvents(tx, [{ type: 'member.removed', accountId, workspaceId, data: presentRemoved(target) }])
  await endAuthority(tx, deps, principal, target)
  return target
}
