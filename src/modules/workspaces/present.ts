import type { Principal } from '../../auth/principal.ts'
import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import type { InvitationRecord, MemberRecord, NamedMember, WorkspaceRecord } from './queries.ts'
import type { Invitation, InvitationPreview, Member, Workspace, WorkspaceView } from './schema.ts'

export const workspaceStatus = (workspace: WorkspaceRecord): Workspace['status'] => {
  if (workspace.closedAt || workspace.ownerStatus === 'closed') return 'closed'
  return workspace.frozenAt || workspace.suspendedAt || workspace.ownerStatus === 'frozen' ? 'frozen' : 'active'
}

export const presentWorkspace = (workspace: WorkspaceRecord, currency: string): Workspace => ({
  id: formatId('workspace', workspace.id),
  name: workspace.name,
  kind: workspace.kind,
  status: workspaceStatus(workspace),
  time_zone: workspace.nextTimeZone ?? workspace.timeZone,
  currency,
  owning_account_id: formatId('account', workspace.owningAccountId),
  created_at: isoTime(workspace.createdAt),
})

export const presentWorkspaceView = (
  workspace: WorkspaceRecord,
  member: Pick<MemberRecord, 'role' | 'status'>,
  currency: string,
): WorkspaceView => ({
  workspace: presentWorkspace(workspace, currency),
  membership: { role: member.role, status: member.status },
})

/** What the caller's credential already contains, so that no query is needed. Null where the caller is not a member. */
export const presentCurrent = ({ workspace, role, memberStatus }: Principal, currency: string): WorkspaceView | null =>
  role && memberStatus
    ? {
        workspace: {
          id: formatId('workspace', workspace.id),
          name: workspace.name,
          kind: workspace.kind,
          status: workspace.closed ? 'closed' : workspace.frozen ? 'frozen' : 'active',
          time_zone: workspace.zone.nextTimeZone ?? workspace.zone.timeZone,
          currency,
          owning_account_id: formatId('account', workspace.owningAccountId),
          created_at: isoTime(workspace.createdAt),
        },
        membership: { role, status: memberStatus },
      }
    : null

export const presentMember = (member: NamedMember): Member => ({
  id: formatId('member', member.id),
  workspace_id: formatId('workspace', member.workspaceId),
  account_id: formatId('account', member.accountId),
  email: member.email,
  display_name: member.displayName,
  wallet_address: member.walletAddress,
  role: member.role,
  status: member.status,
  created_at: isoTime(member.createdAt),
  updated_at: isoTime(member.updatedAt),
})

export const presentRemoved = (member: NamedMember): Member => ({ ...presentMember(member), status: 'removed' })

/** An invitation with the details that its reader does not know yet. */
export type PreviewedInvitation = { invitation: InvitationRecord; workspace: WorkspaceRecord; inviterName: string | null }

export const invitationStatus = (invitation: InvitationRecord, now: Date): Invitation['status'] => {
  if (invitation.acceptedAt) return 'accepted'
  if (invitation.revokedAt) return 'revoked'
  return invitation.expiresAt <= now ? 'expired' : 'pending'
}

export const presentInvitation = (invitation: InvitationRecord, now: Date): Invitation => ({
  id: formatId('invitation', invitation.id),
  workspace_id: formatId('workspace', invitation.workspaceId),
  role: invitation.role,
  email: invitation.email,
  wallet_address: invitation.walletAddress,
  status: invitationStatus(invitation, now),
  invited_by: formatId('account', invitation.invitedBy),
  accepted_by: invitation.acceptedBy && formatId('account', invitation.acceptedBy),
  created_at: isoTime(invitation.createdAt),
  expires_at: isoTime(invitation.expiresAt),
  accepted_at: isoTimeOrNull(invitation.acceptedAt),
  revoked_at: isoTimeOrNull(invitation.revokedAt),
})

export const presentPreview = ({ invitation, workspace, inviterName }: PreviewedInvitation, now: Date): InvitationPreview => ({
  workspace: { id: formatId('workspace', workspace.id), name: workspace.name, kind: workspace.kind },
  role: invitation.role,
  status: invitationStatus(invitation, now),
  invited_by: { account_id: formatId('account', invitation.invitedBy), display_name: inviterName },
  expires_at: isoTime(invitation.expiresAt),
})
