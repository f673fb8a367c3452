import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import type { WorkspaceRecord } from '../queries.ts'
import type { InvitationRecord } from './queries.ts'
import type { Invitation, InvitationPreview } from './schema.ts'

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
