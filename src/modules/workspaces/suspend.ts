import { lockFurtherAccounts } from '../../db/account-lock.ts'
import type { Tx } from '../../db/client.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import { audit } from '../../events/audit.ts'
import { found } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Operator, refuseOwnAccount } from '../operators.ts'
import type { Deps } from './deps.ts'
import { publishWorkspaceStatusEvent } from './events.ts'
import { findWorkspace, lockWorkspace, type WorkspaceRecord } from './queries.ts'

const suspendRow = prepareUpdate('workspaces.suspend', workspaces, ['suspendedAt', 'updatedAt'])

const setSuspended =
  (suspended: boolean) =>
  async (tx: Tx, deps: Pick<Deps, 'config'>, operator: Operator, id: Uuid, reason?: string): Promise<WorkspaceRecord> => {
    const unlocked = found(await findWorkspace(tx, id))
    await lockFurtherAccounts(tx, unlocked.owningAccountId)
    const workspace = found(await lockWorkspace(tx, id))
    if ((workspace.suspendedAt !== null) === suspended) return workspace
    if (!suspended) await refuseOwnAccount(tx, operator, workspace.owningAccountId)
    const { at } = tx
    suspendRow(tx, id, { suspendedAt: suspended ? at : null, updatedAt: at })
    await audit(tx, operator, at, {
      action: suspended ? 'admin.workspace_suspend' : 'admin.workspace_reinstate',
      workspaceId: id,
      subject: { type: 'workspace', id },
      after: { reason },
    })
    return publishWorkspaceStatusEvent(tx, deps.config, workspace)
  }

/** Stops a workspace like its own freeze does, but its members cannot undo it. */
export const suspendWorkspace = setSuspended(true)

/** Returns a workspace to its members; if they froze it themselves, it stays frozen. */
export const reinstateWorkspace = setSuspended(false)
