import type { Config } from '../../config.ts'
import type { Tx } from '../../db/client.ts'
import { appendEvents } from '../../events/append.ts'
import type { EventType } from '../../events/types.ts'
import { presentWorkspace, workspaceStatus } from './present.ts'
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
