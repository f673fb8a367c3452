import type { Role } from '../../auth/permissions.ts'
import { isBalanceShared, type Principal } from '../../auth/principal.ts'
import { presenter } from '../../http/presenter.ts'
import type { Balance } from '../../ledger/ledger.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import type { InvitationRecord, MemberRecord, NamedMember, WorkspaceRecord } from './queries.ts'
import { Funds, Invitation, Member, Workspace, type WorkspaceView } from './schema.ts'

export const workspaceStatus = (workspace: WorkspaceRecord): Workspace['status'] => {
  if (workspace.closedAt || workspace.holderStatus === 'closed') return 'closed'
  return workspace.frozenAt || workspace.suspendedAt || workspace.holderStatus === 'frozen' ? 'frozen' : 'active'
}

export const presentFunds = presenter(Funds)

const shown = presenter(Workspace)

type WorkspaceState = Omit<Principal['workspace'], 'isSeparated'>

/** `balance`: null if the reader may not see it. */
export const presentWorkspace = (workspace: WorkspaceState, currency: string, balance: Balance | null = null): Workspace =>
  shown(workspace, {
    status: workspace.closed ? 'closed' : workspace.frozen ? 'frozen' : 'active',
    time_zone: workspace.nextTimeZone ?? workspace.timeZone,
    time_zone_from: isoTimeOrNull(workspace.nextTimeZoneFrom),
    previous_time_zone: workspace.nextTimeZone === null ? null : workspace.timeZone,
    currency,
    balance: balance && presentFunds(balance),
    balance_shared: isBalanceShared(workspace),
  })

export const withState = (record: WorkspaceRecord): WorkspaceState => {
  const status = workspaceStatus(record)
  return { ...record, frozen: status === 'frozen', closed: status === 'closed' }
}

type MembershipView = { workspace: WorkspaceState; role: Role; status: MemberRecord['status']; balance: Balance | null }

export const presentWorkspaceView = ({ workspace, role, status, balance }: MembershipView, currency: string): WorkspaceView => ({
  workspace: presentWorkspace(workspace, currency, balance),
  membership: { role, status },
})

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
