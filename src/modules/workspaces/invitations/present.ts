import { isoTime, isoTimeOrNull } from '../../../http/wire.ts'
import { formatId } from '../../../lib/ids.ts'
import type { InvitationRecord } from './queries.ts'
import type { Invitation } from './schema.ts'

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
