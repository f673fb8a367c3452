import type { Tx } from '../../../db/client.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Deps } from '../deps.ts'
import type { GrantRecord } from '../grants/queries.ts'
import { limitGrantEnd, revokeGrant } from '../grants/revoke.ts'
import { lastKeyEnd } from './queries.ts'

/**
 * A grant ends with its last active key, and its descendants end too. Every key's end is known when the key is written, so the latest end
 * also becomes the `expires_at` of the grant and its descendants: authentication reads nothing above a grant. The caller has locked the
 * grant.
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
