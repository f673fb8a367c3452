import type { Principal } from '../../auth/principal.ts'
import { presenter } from '../../http/presenter.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import type { ZoneSchedule } from '../../policy/calendar.ts'
import type { InvitationRecord, NamedMember, WorkspaceMembership, WorkspaceRecord } from './queries.ts'
import { Invitation, Member, Workspace, type WorkspaceView } from './schema.ts'

export const workspaceStatus = (workspace: WorkspaceRecord): Workspace['status'] => {
  if (workspace.closedAt || workspace.ownerStatus === 'closed') return 'closed'
  return workspace.frozenAt || workspace.suspendedAt || workspace.ownerStatus === 'frozen' ? 'frozen' : 'active'
}

const shown = presenter(Workspace)
const shownZone = ({ timeZone, nextTimeZone, nextTimeZoneFrom }: ZoneSchedule) => ({
  time_zone: nextTimeZone ?? timeZone,
  time_zone_from: isoTimeOrNull(nextTimeZoneFrom),
})

export const presentWorkspace = (workspace: WorkspaceRecord, currency: string): Workspace =>
  shown(workspace, {
    status: workspaceStatus(workspace),
    ...shownZone(workspace),
    currency,
  })

export const presentWorkspaceView = ({ workspace, member }: WorkspaceMembership, currency: string): WorkspaceView => ({
  workspace: presentWorkspace(workspace, currency),
  membership: { role: member.role, status: member.status },
})

/** From the credential, without a query. Null where the caller is not a member. */
export const presentCurrent = ({ workspace, role, memberStatus }: Principal, currency: string): WorkspaceView | null =>
  role && memberStatus
    ? {
        workspace: shown(workspace, {
          status: workspace.closed ? 'closed' : workspace.frozen ? 'frozen' : 'active',
          ...shownZone(workspace),
          currency,
        }),
        membership: { role, status: memberStatus },
      }
    : null

const shownMember = presenter(Member)

export const presentMember = (member: NamedMember): Member => shownMember(member)

export const presentRemoved = (member: NamedMember): Member => ({ ...presentMember(member), status: 'removed' })

export const invitationStatus = (invitation: InvitationRecord, now: Date): Invitation['status'] => {
  if (invitation.acceptedAt) return 'accepted'
  if (invitation.revokedAt) return 'revoked'
  return invitation.expiresAt <= now ? 'expired' : 'pending'
}

const shownInvitation = presenter(Invitation)

export const presentInvitation = (invitation: InvitationRecord, now: Date): Invitation =>
  shownInvitation(invitation, { status: invitationStatus(invitation, now) })
