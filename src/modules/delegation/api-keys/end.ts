import type { Tx } from '../../../db/client.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Deps } from '../../deps.ts'
import type { GrantRecord } from '../grants/queries.ts'
import { limitGrantEnd, revokeGrant } from '../grants/revoke.ts'
import { lastKeyEnd } from './queries.ts'

/**
 * A grant ends with its last live key, and what is below it as well. All ends of keys are known when they are written, so a later
 * end becomes the grant's (and its descendants') own `expires_at` here: authentication needs to look at nothing above a grant.
 * The grant is locked.
 */
export const endGrantWithItsKeys = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'onGrantsRevoked'>,
  actor: Actor,
  grant: GrantRecord,
): Promise<GrantRecord> => {
  const end = await lastKeyEnd(tx, grant.id)
  if (end === null) return grant
  return end <= tx.at ? revokeGrant(tx, deps, actor, grant.id) : limitGrantEnd(tx, deps, grant, end)
}
