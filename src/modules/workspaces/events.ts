import type { Config } from '../../config.ts'
import type { Tx } from '../../db/client.ts'
import { appendEvents } from '../../events/append.ts'
import type { EventType } from '../../events/types.ts'
import type { Uuid } from '../../lib/ids.ts'
import { findMember, type NamedMember } from './member-queries.ts'
import { presentMember, presentRemoved, presentWorkspace, workspaceStatus } from './present.ts'
import { findWorkspace, type WorkspaceRecord } from './queries.ts'

/** Publishes a workspace's present state. */
export const publishWorkspaceEvent = async (
  tx: Tx,
  config: Config,
  type: EventType,
  workspace: WorkspaceRecord,
): Promise<WorkspaceRecord> => {
  const { id, owningAccountId: accountId } = workspace
  const data = presentWorkspace(workspace, config.CURRENCY)
  await appendEvents(tx, [{ type, accountId, workspaceId: id, data }])
  return workspace
}

/** Several things can stop a workspace. Its status is published when the first of them begins and when the last one ends. */
export const publishWorkspaceStatusEvent = async (tx: Tx, config: Config, before: WorkspaceRecord): Promise<WorkspaceRecord> => {
  const after = await findWorkspace(tx, before.id)
  if (!after) throw new Error('a workspace that was changed is missing')
  const was = workspaceStatus(before)
  const is = workspaceStatus(after)
  if (was === is) return after
  return publishWorkspaceEvent(tx, config, is === 'active' ? 'workspace.unfrozen' : 'workspace.frozen', after)
}

/** The event's account is the member's: its streams check again what it may read. */
export const publishMemberEvent = async (
  tx: Tx,
  type: 'member.joined' | 'member.updated',
  { workspaceId, id }: { workspaceId: Uuid; id: Uuid },
): Promise<NamedMember> => {
  const member = await findMember(tx, workspaceId, id)
  if (!member) throw new Error('a member who was changed is missing')
  await appendEvents(tx, [{ type, accountId: member.accountId, workspaceId, data: presentMember(member) }])
  return member
}

export const publishMemberRemovedEvent = (tx: Tx, member: NamedMember): Promise<void> => {
  const { accountId, workspaceId } = member
  return appendEvents(tx, [{ type: 'member.removed', accountId, workspaceId, data: presentRemoved(member) }])
}
