import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { audit } from '../../../events/audit.ts'
import { formatId } from '../../../lib/ids.ts'
import { publishWorkspaceEvent } from '../events.ts'
import { findMembership, findWorkspace, type WorkspaceMembership } from '../queries.ts'
import type { CreateWorkspace } from '../schema.ts'
import { defaultTimeZone, insertWorkspace } from '../service.ts'
import { publishMemberEvent } from './events.ts'

/** Creates a team's workspace with its first member, who owns it. */
export const createWorkspace = async (
  tx: Tx,
  config: Config,
  principal: Principal,
  input: CreateWorkspace,
): Promise<WorkspaceMembership> => {
  const { accountId } = principal
  const timeZone = input.time_zone ?? defaultTimeZone
  const id = insertWorkspace(tx, { ownerId: accountId, name: input.name, kind: 'team', timeZone })
  const [workspace, member] = await Promise.all([findWorkspace(tx, id), findMembership(tx, id, accountId)])
  if (!workspace || !member) throw new Error('a new workspace has no owner')
  await publishWorkspaceEvent(tx, config, 'workspace.updated', workspace)
  await publishMemberEvent(tx, 'member.joined', member)
  const after = { name: input.name, time_zone: timeZone, owning_account: formatId('account', accountId) }
  await audit(tx, principal, tx.at, {
    action: 'workspace.create',
    workspaceId: id,
    subject: { type: 'workspace', id },
    after,
  })
  return { workspace, member }
}
