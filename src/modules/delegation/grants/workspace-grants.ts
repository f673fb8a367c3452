import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { OnGrantsRevoked } from '../../ports.ts'
import { lockMembership } from '../../workspaces/membership.ts'
import { type GrantRecord, isGrantOf, listUsableGrantIds, lockGrant } from './queries.ts'
import { revokeGrant } from './revoke.ts'
import { type ChangedGrant, changeGrant } from './update.ts'

/** Who manages a workspace may stop and end every grant in it, including those of other accounts. */
const grantToManage = async (tx: Tx, principal: Principal, id: Uuid): Promise<Uuid> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  if (!(await isGrantOf(tx, workspace.id, id))) throw notFound()
  return id
}

export const freezeWorkspaceGrant = async (tx: Tx, principal: Principal, id: Uuid, frozen: boolean): Promise<ChangedGrant> =>
  changeGrant(tx, principal, await lockGrant(tx, await grantToManage(tx, principal, id)), { frozen })

export const revokeWorkspaceGrant = async (
  tx: Tx,
  onGrantsRevoked: OnGrantsRevoked,
  principal: Principal,
  id: Uuid,
): Promise<GrantRecord> => {
  await grantToManage(tx, principal, id)
  return revokeGrant(tx, onGrantsRevoked, principal, id)
}

/** The stop for everything that acts for someone in the workspace. Answers how many were frozen by it. */
export const freezeWorkspaceGrants = async (tx: Tx, principal: Principal): Promise<number> => {
  const { workspace } = await lockMembership(tx, principal, 'workspace.manage')
  let frozen = 0
  for (const id of await listUsableGrantIds(tx, workspace.id, tx.at)) {
    const grant = await lockGrant(tx, id)
    // It may have ended while its lock was waited for.
    if (grant.revokedAt || grant.frozenAt) continue
    await changeGrant(tx, principal, grant, { frozen: true })
    frozen += 1
  }
  return frozen
}
