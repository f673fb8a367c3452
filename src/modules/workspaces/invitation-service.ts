import { and, eq, sql } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import { digestOfSecret, newSecret, sha256 } from '../../auth/secrets.ts'
import { type Database, type Db, first, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { identities } from '../../db/tables/accounts.ts'
import { emailKeyOf } from '../../db/tables/columns.ts'
import { notificationSettings } from '../../db/tables/mail.ts'
import { invitations, members } from '../../db/tables/workspaces.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { type Clock, daysAfter, isoTime } from '../../lib/clock.ts'
import { emailKey, emailKeySql } from '../../lib/email-key.ts'
import { conflict, found, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { quoted } from '../../lib/text.ts'
import { effectiveTimeZone } from '../../policy/calendar.ts'
import { requireBelowBound } from '../bounds.ts'
import { queueMailTo } from '../mail/service.ts'
import type { Parts } from '../parts.ts'
import { mailNewApprover, mayDecide, mayOffer, ownersOnly, rolesSince } from './member-service.ts'
import { lockMembership, publishMemberEvent, requireOpen } from './membership.ts'
import { invitationStatus, presentInvitation } from './present.ts'
import {
  findInvitation,
  findInvitationByToken,
  findInviter,
  findMembership,
  findWorkspace,
  type InvitationRecord,
  isAddressee,
  isMember,
  listInvitationsByIds,
  lockWorkspace,
  lockWorkspaces,
  type WorkspaceMembership,
  type WorkspaceRecord,
} from './queries.ts'
import type { CreateInvitation } from './schema.ts'

const ttlDays = 7

type MailDeps = Pick<Parts, 'derivations' | 'vault'>

const languageOf = prepare('invitations.language', { email: 'text' }, (orm, param) =>
  orm
    .select({ language: notificationSettings.language })
    .from(notificationSettings)
    .innerJoin(identities, eq(identities.accountId, notificationSettings.accountId))
    .where(and(eq(emailKeyOf(identities.email), param.email), sql`${identities.emailVerified}`))
    .limit(1),
)

/** Mails the invitation once. The link can also be copied. */
const mailInvitation = async (
  tx: Tx,
  deps: MailDeps,
  workspace: WorkspaceRecord,
  invitation: InvitationRecord,
  secret: string,
) => {
  const { id, workspaceId, email, role, expiresAt, invitedBy } = invitation
  if (email === null) return
  const [inviter, known] = await Promise.all([findInviter(tx, { id: invitedBy }), tx.run(languageOf, { email: emailKey(email) })])
  const by = quoted(inviter?.displayName ?? formatId('account', invitedBy))
  const content = { values: { by, workspace: quoted(workspace.name), role }, times: { expires: isoTime(expiresAt) } }
  const about = { kind: 'invitation', id } as const
  const cause = { ...content, kind: about.kind, cause: `invitation/${id}`, workspaceId, about, path: '/invitation' }
  const zone = effectiveTimeZone(workspace, tx.at)
  queueMailTo(tx, deps, { ...cause, zone }, { accountId: null, email, language: known[0]?.language ?? 'en', secret })
}

const maxToEmail = 3
const countToEmail = statement('invitations.count_to_email')`
  select count(*)::int as count from invitations i
   where i.workspace_id = $1 and ${emailKeySql('i.email')} = $2 and i.created_at > $3::timestamptz - interval '24 hours'`

/** Bounds what a workspace mails to people who did not ask for it. Includes ended invitations, because they were mailed too. */
const requireInvitationBound = async (tx: Tx, workspaceId: Uuid, email: string | null): Promise<void> => {
  await requireBelowBound(tx, 'members', workspaceId)
  await requireBelowBound(tx, 'newInvitations', workspaceId)
  if (email === null) return
  const { count } = only(await tx.query<{ count: number }>(countToEmail, [workspaceId, emailKey(email), tx.at]))
  if (count < maxToEmail) return
  throw conflict(
    `A workspace invites an email address at most ${maxToEmail} times in 24 hours: try again later, or share an invitation without an address.`,
    'limit_reached',
  )
}

export const createInvitation = async (tx: Tx, deps: MailDeps, principal: Principal, input: CreateInvitation) => {
  const { workspace, member } = await lockMembership(tx, principal, 'workspace.manage')
  requireOpen(workspace)
  if (!mayOffer(member.role, input.role)) throw ownersOnly()
  const addressee = { email: input.email ?? null, walletAddress: input.wallet_address ?? null }
  const addressed = addressee.email !== null || addressee.walletAddress !== null
  if (addressed && (await isMember(tx, workspace.id, addressee)))
    throw conflict('This person is already a member.', 'already_member')
  await requireInvitationBound(tx, workspace.id, addressee.email)
  const { at } = tx
  const token = newSecret('invitation')
  const invitation: InvitationRecord = {
    id: newId(),
    workspaceId: workspace.id,
    role: input.role,
    ...addressee,
    tokenHash: sha256(token),
    invitedBy: principal.accountId,
    originSessionId: principal.originSessionId,
    originGrantId: principal.originGrantId,
    createdAt: at,
    expiresAt: daysAfter(at, ttlDays),
    acceptedAt: null,
    acceptedBy: null,
    revokedAt: null,
  }
  insertRow(tx, invitations, invitation)
  const { id } = invitation
  const data = presentInvitation(invitation, at)
  await appendEvents(tx, [{ type: 'member.invited', accountId: principal.accountId, workspaceId: workspace.id, data }])
  const after = {
    role: input.role,
    email: input.email,
    wallet: input.wallet_address,
    expires_at: data.expires_at,
    secret_digest: digestOfSecret(invitation.tokenHash),
  }
  audit(tx, principal, 'invitation.create', { subject: id, after })
  await mailInvitation(tx, deps, workspace, invitation, token)
  return { invitation, token }
}

const revoke = async (tx: Tx, principal: Principal, invitation: InvitationRecord): Promise<InvitationRecord> => {
  const { id, workspaceId } = invitation
  audit(tx, principal, 'invitation.revoke', { workspaceId, subject: id })
  return updateRow(tx, invitations, invitation, { revokedAt: tx.at })
}

/** A repeated call gets the same answer. An accepted invitation is a membership, which has its own route. */
export const revokeInvitation = async (tx: Tx, principal: Principal, id: Uuid): Promise<InvitationRecord> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  const invitation = found(await findInvitation(tx, { workspaceId: workspace.id, id }))
  if (invitation.acceptedAt) throw conflict('The invitation was accepted.', 'invitation_accepted')
  if (invitation.revokedAt) return invitation
  return revoke(tx, principal, invitation)
}

/** Revokes open invitations, after reading them again under the locks that accepting takes. */
export const endPendingInvitations = async (tx: Tx, principal: Principal, open: readonly InvitationRecord[]): Promise<void> => {
  const ids = open.map(({ id }) => id)
  const workspaceIds = open.map(({ workspaceId }) => workspaceId)
  await lockWorkspaces(tx, workspaceIds)
  for (const one of await listInvitationsByIds(tx, ids))
    if (invitationStatus(one, tx.at) === 'pending') await revoke(tx, principal, one)
}

/** Reads the invitation under its workspace's lock, so that the second of two accounts that accept it finds it used. */
const lockInvitation = async (tx: Tx, token: string): Promise<{ invitation: InvitationRecord; workspace: WorkspaceRecord }> => {
  const tokenHash = sha256(token)
  const unlocked = await findInvitationByToken(tx, { tokenHash })
  const workspace = unlocked && (await first(tx, lockWorkspace, { id: unlocked.workspaceId }))
  const invitation = workspace && (await findInvitationByToken(tx, { tokenHash }))
  if (!invitation) throw notFound()
  return { invitation, workspace }
}

/** Open invitations of a member who loses the role are revoked. Those of a frozen account can be used again after the freeze. */
const requirePending = async (db: Db, invitation: InvitationRecord, now: Date): Promise<void> => {
  const status = invitationStatus(invitation, now)
  const inviter = await findInviter(db, { id: invitation.invitedBy })
  if (status === 'pending') {
    if (inviter?.status === 'active') return
    throw conflict('The account that sent the invitation is not active. Ask another member for a new one.', 'invitation_revoked')
  }
  const whom = inviter?.displayName ?? 'the member who sent it'
  throw conflict(
    `The invitation is ${status === 'accepted' ? 'used' : status}. Ask ${whom} for a new one.`,
    `invitation_${status}`,
  )
}

const requireAddressee = async (db: Db, accountId: Uuid, invitation: InvitationRecord): Promise<void> => {
  if (invitation.email === null && invitation.walletAddress === null) return
  if (await isAddressee(db, accountId, invitation)) return
  throw new Refusal('forbidden', {
    message:
      'The invitation is addressed to an e-mail or a wallet that is not verified on this account. A contract wallet is one on its chain: it is invited as eip155:<chain>:<address>.',
  })
}

/** The same account gets the same answer again while it is a member. */
export const acceptInvitation = async (tx: Tx, principal: Principal, token: string): Promise<WorkspaceMembership> => {
  const { accountId } = principal
  const { invitation, workspace } = await lockInvitation(tx, token)
  await requireAddressee(tx, accountId, invitation)
  const member = await findMembership(tx, workspace.id, accountId)
  if (invitation.acceptedBy === accountId && member) return { workspace, member }
  const { at } = tx
  await requirePending(tx, invitation, at)
  if (member) throw conflict('This account is already a member of the workspace.', 'already_member')
  requireOpen(workspace)
  const joined = {
    id: newId(),
    workspaceId: workspace.id,
    accountId,
    role: invitation.role,
    status: 'active' as const,
    lastUsedAt: null,
    ...rolesSince({ role: invitation.role, status: 'active' }, at),
    invitationId: invitation.id,
    createdAt: at,
    updatedAt: at,
  }
  insertRow(tx, members, joined)
  updateRow(tx, invitations, invitation, { acceptedAt: at, acceptedBy: accountId })
  await publishMemberEvent(tx, 'member.joined', joined)
  if (mayDecide(joined)) mailNewApprover(tx, joined)
  audit(tx, principal, 'invitation.accept', {
    workspaceId: workspace.id,
    subject: invitation.id,
    after: { member: formatId('member', joined.id), role: joined.role },
  })
  return { workspace, member: joined }
}

/** Throws in the same cases as accepting, except if the workspace is stopped or the account is already a member. */
export const previewInvitation = async (db: Database, clock: Clock, principal: Principal, token: string) => {
  const invitation = await findInvitationByToken(db, { tokenHash: sha256(token) })
  const workspace = invitation && (await findWorkspace(db, invitation.workspaceId))
  if (!workspace) throw notFound()
  await requireAddressee(db, principal.accountId, invitation)
  const now = clock.now()
  if (invitation.acceptedBy !== principal.accountId) await requirePending(db, invitation, now)
  const inviter = await findInviter(db, { id: invitation.invitedBy })
  return {
    workspace: { id: formatId('workspace', workspace.id), name: workspace.name, kind: workspace.kind },
    role: invitation.role,
    status: invitationStatus(invitation, now),
    invited_by: { account_id: formatId('account', invitation.invitedBy), display_name: inviter?.displayName ?? null },
    expires_at: isoTime(invitation.expiresAt),
  }
}
