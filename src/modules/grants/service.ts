import type { Principal } from '../../auth/principal.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { findGrant, type GrantRecord, scopeOf } from './queries.ts'
import { revokeGrant } from './revoke.ts'

export { createGrant, type NewGrant } from './create.ts'
export { revokeGrant } from './revoke.ts'
export { type GrantChange, updateGrant } from './update.ts'

/** Revokes one of the caller's own: its account's, or at or below the grant that it acts with. */
export const revokeOwnGrant = async (tx: Tx, deps: Deps, principal: Principal, grantId: Uuid): Promise<GrantRecord> => {
  if (!(await findGrant(tx, scopeOf(principal), grantId))) throw notFound()
  return revokeGrant(tx, deps, principal, grantId)
}

const batch = 100

/** Grants whose end has come: authentication refuses them already; here they and what is below them are revoked, and it is told. */
export const revokeDueGrants = async (deps: Deps): Promise<void> => {
  for (let more = true; more; ) {
    const due = await deps.db.query<{ id: Uuid }>(
      'select id from grants where revoked_at is null and expires_at <= $1 order by expires_at, cardinality(ancestor_ids) limit $2',
      [deps.clock.now(), batch],
    )
    for (const { id } of due)
      await inTx(deps.db, (tx) => revokeGrant(tx, deps, { accountId: null, origin: null, way: 'end_of_grant' }, id))
    more = due.length === batch
  }
}
