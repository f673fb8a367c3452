import { and, eq } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { grants } from '../../../db/tables/grants.ts'
import { notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { lockMembership } from '../../workspaces/membership.ts'
import type { Deps } from '../deps.ts'
import type { GrantRecord } from './queries.ts'
import { revokeGrant } from './revoke.ts'

/** The owners of a workspace may end every grant in it, including those of other accounts. */
export const revokeWorkspaceGrant = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'onGrantsRevoked'>,
  principal: Principal,
  id: Uuid,
): Promise<GrantRecord> => {
  const { workspace, member } = await lockMembership(tx, principal, 'workspace.manage')
  if (member.role !== 'owner') throw new Refusal('forbidden', { message: 'This is for the owners of the workspace.' })
  const [grant] = await tx.orm
    .select({ id: grants.id })
    .from(grants)
    .where(and(eq(grants.id, id), eq(grants.workspaceId, workspace.id)))
  if (!grant) throw notFound()
  return revokeGrant(tx, deps, principal, id)
}
