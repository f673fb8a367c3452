import { and, eq, isNull } from 'drizzle-orm'
import { effectivePermissions, type Role } from '../../auth/permissions.ts'
import { type Principal, requireActiveAccount, requireFreshProof } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareUpdateAll, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { invitations, members } from '../../db/tables/workspaces.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { found, permissionMissing } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { addsRights, checkMemberChange, type MemberChange, rolesSince } from './member-rules.ts'
import { lockMembership, publishMemberEvent, publishMemberRemovedEvent, requireOpen, requireUndelegated } from './membership.ts'
import { countOwners, findMember, type NamedMember, type WorkspaceMembership } from './queries.ts'
import type { UpdateMember } from './schema.ts'

const openBy = prepare('invitations.open_by', { workspaceId: 'uuid', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: invitations.id, role: invitations.role })
    .from(invitations)
    .where(
      and(
        eq(invitations.workspaceId, at.workspaceId),
        eq(invitations.invitedBy, at.accountId),
        isNull(invitations.acceptedAt),
        isNull(invitations.revokedAt),
      ),
    ),
)

const revokeRows = prepareUpdateAll('invitations.revoke_all', invitations, ['revokedAt'])

type Place = { workspaceId: Uuid; accountId: Uuid }

const mayOffer = (role: Role | null, offered: Role): boolean =>
  role !== null && effectivePermissions(role, null).has('workspace.manage') && (offered !== 'owner' || role === 'owner')

/**
 * Open invitations end with the right to create them; otherwise a member who is being removed could return by one. `role`: null when
 * removed.
 */
const endInvitations = async (tx: Tx, actor: Actor, { workspaceId, accountId }: Place, role: Role | null): Promise<void> => {
  const open = await tx.run(openBy, { workspaceId, accountId })
  const ended = open.filter((invitation) => !mayOffer(role, invitation.role)).map(({ id }) => ({ id, revokedAt: tx.at }))
  if (ended.length === 0) return
  tx.defer(revokeRows(tx.query, ended))
  for (const { id } of ended) audit(tx, actor, 'invitation.revoke', { workspaceId, subject: id })
}

const removeRow = prepareWrite('members.remove', { id: 'uuid' }, (orm, at) => orm.delete(members).where(eq(members.id, at.id)))

/** Ends what a member delegated in the workspace. Passed in, because delegation imports workspaces and not the other way round. */
export type EndDelegations = (tx: Tx, actor: Actor, member: { accountId: Uuid; workspaceId: Uuid }) => Promise<void>

const check = async (
  tx: Tx,
  principal: Principal,
  { workspace, member }: WorkspaceMembership,
  target: NamedMember,
  change: MemberChange,
): Promise<void> => {
  const actor = { accountId: member.accountId, role: member.role, status: member.status, delegated: principal.grant !== null }
  const owners = await countOwners(tx, workspace.id)
  checkMemberChange({ actor, target, owningAccountId: workspace.owningAccountId, owners }, change)
}

/** What the member decided and asked for in the workspace, and no longer may, ends. */
const endAuthority = async (
  tx: Tx,
  deps: Pick<Parts, 'onAuthorityLost' | 'onRequesterLost'>,
  actor: Principal,
  { accountId, workspaceId }: NamedMember,
): Promise<void> => {
  await deps.onAuthorityLost(tx, actor, accountId)
  await deps.onRequesterLost(tx, actor, { accountId, workspaceIds: [workspaceId] })
}

export const updateMember = async (
  tx: Tx,
  deps: Pick<Parts, 'onAuthorityLost' | 'onRequesterLost'>,
  principal: Principal,
  id: Uuid,
  input: UpdateMember,
): Promise<NamedMember> => {
  const membership = await lockMembership(tx, principal, 'workspace.manage')
  requireOpen(membership.workspace)
  const target = found(await findMember(tx, membership.workspace.id, id))
  const change = { role: input.role ?? target.role, status: input.status ?? target.status }
  if (change.role === target.role && change.status === target.status) return target
  await check(tx, principal, membership, target, change)
  const { at } = tx
  if (addsRights(target, change)) requireFreshProof(principal, at)
  updateRow(tx, members, { id }, { ...change, ...rolesSince(change, at, target), updatedAt: at })
  await endInvitations(tx, principal, target, change.status === 'suspended' ? null : change.role)
  audit(tx, principal, 'member.update', {
    subject: id,
    before: { account: formatId('account', target.accountId), role: target.role, status: target.status },
    after: { account: formatId('account', target.accountId), ...change },
  })
  const updated = await publishMemberEvent(tx, 'member.updated', target)
  await endAuthority(tx, deps, principal, target)
  return updated
}

/** Every member may leave in person; removing another member takes `workspace.manage`. The member's grants in the workspace end at once. */
export const removeMember = async (
  tx: Tx,
  deps: Pick<Parts, 'onAuthorityLost' | 'onRequesterLost'>,
  principal: Principal,
  id: Uuid,
  endDelegations: EndDelegations,
): Promise<NamedMember> => {
  const membership = await lockMembership(tx, principal, null)
  const manages =
    effectivePermissions(membership.member.role, null).has('workspace.manage') && principal.permissions.has('workspace.manage')
  const isLeaving = membership.member.id === id
  if (!isLeaving && !manages) throw permissionMissing('workspace.manage')
  if (isLeaving) requireUndelegated(principal)
  else requireActiveAccount(principal)
  const target = found(await findMember(tx, membership.workspace.id, id))
  await check(tx, principal, membership, target, { role: target.role, status: 'removed' })
  await endDelegations(tx, principal, target)
  tx.defer(tx.run(removeRow, { id }))
  await endInvitations(tx, principal, target, null)
  audit(tx, principal, isLeaving ? 'member.leave' : 'member.remove', {
    subject: id,
    before: { account: formatId('account', target.accountId), role: target.role, status: target.status },
  })
  await publishMemberRemovedEvent(tx, target)
  await endAuthority(tx, deps, principal, target)
  return target
}
