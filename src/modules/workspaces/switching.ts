import { eq } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { dashboardTokens, sessions } from '../../db/tables/sessions.ts'
import { members } from '../../db/tables/workspaces.ts'
import { audit } from '../../events/audit.ts'
import { notFound, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { findMembership, shareWorkspace, type WorkspaceMembership } from './queries.ts'

/**
 * The workspace in which this credential works from now on. Under the workspace's lock: a member who is being removed cannot switch back to
 * it.
 */
export const switchWorkspace = async (tx: Tx, principal: Principal, to: Uuid): Promise<WorkspaceMembership> => {
  const workspace = await shareWorkspace(tx, to)
  const member = workspace && (await findMembership(tx, to, principal.accountId))
  if (!workspace || !member) throw notFound('workspace_id')
  if (member.status === 'suspended') throw new Refusal('membership_suspended')
  const { kind, id } = principal.credential
  const table = kind === 'dashboard' ? dashboardTokens : sessions
  await tx.orm.update(table).set({ workspaceId: to }).where(eq(table.id, id))
  await tx.orm.update(members).set({ lastUsedAt: tx.at }).where(eq(members.id, member.id))
  await audit(tx, principal, tx.at, { action: 'workspace.switch', workspaceId: to, subject: { type: kind, id } })
  return { workspace, member }
}
