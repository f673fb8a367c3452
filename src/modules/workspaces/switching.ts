import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { dashboardTokens, sessions } from '../../db/tables/sessions.ts'
import { members } from '../../db/tables/workspaces.ts'
import { audit } from '../../events/audit.ts'
import { notFound, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { findMembership, shareWorkspace, type WorkspaceMembership } from './queries.ts'

const moveToken = prepareUpdate('dashboard_tokens.move', dashboardTokens, ['workspaceId'])
const moveSession = prepareUpdate('sessions.move', sessions, ['workspaceId'])
const noteUse = prepareUpdate('members.note_use', members, ['lastUsedAt'])

/**
 * The workspace in which this credential works from now on. Under the workspace's lock: a member who is being removed cannot switch back to
 * it.
 */
export const switchWorkspace = async (tx: Tx, principal: Principal, to: Uuid): Promise<WorkspaceMembership> => {
  // The second statement begins when the first has its lock.
  const [workspace, member] = await Promise.all([shareWorkspace(tx, to), findMembership(tx, to, principal.accountId)])
  if (!workspace || !member) throw notFound('workspace_id')
  if (member.status === 'suspended') throw new Refusal('membership_suspended')
  const { kind, id } = principal.credential
  const move = kind === 'dashboard' ? moveToken : moveSession
  move(tx, id, { workspaceId: to })
  noteUse(tx, member.id, { lastUsedAt: tx.at })
  await audit(tx, principal, tx.at, { action: 'workspace.switch', workspaceId: to, subject: { type: kind, id } })
  return { workspace, member }
}
