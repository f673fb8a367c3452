import { isoTime } from '../../http/wire.ts'
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
