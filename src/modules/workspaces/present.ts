import type { Principal } from '../../auth/principal.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import type { MemberRecord, WorkspaceRecord } from './queries.ts'
import type { Workspace, WorkspaceView } from './schema.ts'

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
