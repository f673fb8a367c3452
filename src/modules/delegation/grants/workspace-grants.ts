import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { grants } from '../../../db/tables/grants.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { lockMembership } from '../../workspaces/membership.ts'
import type { Deps } from '../deps.ts'
import { type GrantRecord, lockGrant } from './queries.ts'
import { revokeGrant } from './revoke.ts'
import { changeGrant } from './update.ts'

/** Who manages a workspace may stop and end every grant in it, including those of other accounts. */
const grantToManage = async (tx: Tx, principal: Principal, id: Uuid): Promise<Uuid> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  const [grant] = await tx.orm
    .select({ id: grants.id })
    .from(grants)
    .where(and(eq(grants.id, id), eq(grants.workspaceId, workspace.id)))
  if (!grant) throw notFound()
  return grant.id
}

export const freezeWorkspaceGrant = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  principal: Principal,
  id: Uuid,
  frozen: boolean,
): Promise<GrantRecord> =>
  changeGrant(tx, deps, principal, await lockGrant(tx, await grantToManage(tx, principal, id)), { frozen })

export const revokeWorkspaceGrant = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'onGrantsRevoked'>,
  principal: Principal,
  id: Uuid,
): Promise<GrantRecord> => {
  await grantToManage(tx, principal, id)
  return revokeGrant(tx, deps, principal, id)
}

/** The stop for everything that acts for someone in the workspace. Answers how many were frozen by it. */
export const freezeWorkspaceGrants = async (tx: Tx, deps: Pick<Deps, 'appendEvents'>, principal: Principal): Promise<number> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  const live = await tx.orm
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(
        eq(grants.workspaceId, workspace.id),
        isNull(grants.revokedAt),
        isNull(grants.frozenAt),
        or(isNull(grants.expiresAt), gt(grants.expiresAt, tx.at)),
      ),
    )
    .orderBy(asc(grants.id))
  let frozen = 0
  for (const { id } of live) {
    const grant = await lockGrant(tx, id)
    // It may have ended while its lock was waited for.
    if (grant.revokedAt || grant.frozenAt) continue
    await changeGrant(tx, deps, principal, grant, { frozen: true })
    frozen += 1
  }
  return frozen
}
