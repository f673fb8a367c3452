import type { Tx } from '../../db/client.ts'
import type { EventType } from '../../events/types.ts'
import type { Deps } from './deps.ts'
import { presentWorkspace, workspaceStatus } from './present.ts'
import { findWorkspace, type WorkspaceRecord } from './queries.ts'

/** Publishes a workspace's present state. */
export const publishWorkspaceEvent = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  type: EventType,
  workspace: WorkspaceRecord,
): Promise<WorkspaceRecord> => {
  const { id, owningAccountId: accountId } = workspace
  const data = presentWorkspace(workspace, deps.config.CURRENCY)
  await deps.appendEvents(tx, tx.at, [{ type, accountId, workspaceId: id, data }])
  return workspace
}

/** Several things can stop a workspace. Its status is published when the first of them begins and when the last one ends. */
export const publishWorkspaceStatusEvent = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  before: WorkspaceRecord,
): Promise<WorkspaceRecord> => {
  const after = await findWorkspace(tx, before.id)
  if (!after) throw new Error('a workspace that was changed is missing')
  const was = workspaceStatus(before)
  const is = workspaceStatus(after)
  if (was === is) return after
  return publishWorkspaceEvent(tx, deps, is === 'active' ? 'workspace.unfrozen' : 'workspace.frozen', after)
}
