import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

const bySession = statement(
  'auth.begun_by',
  `select i.linked_by_grant_id as grant_id from sessions s join identities i on i.id = s.identity_id
   where s.id = $1 or s.id = (select d.session_id from dashboard_tokens d where d.id = $1)`,
)

/**
 * The grant behind a credential: its own grant, else the grant that linked the sign-in method of its session. Whatever is created or linked
 * with such a credential ends when that grant is revoked.
 */
export const grantBehind = async (db: Db, credential: Principal['credential'], grantId: Uuid | null): Promise<Uuid | null> => {
  if (grantId !== null) return grantId
  const [row] = await db.query<{ grant_id: Uuid | null }>(bySession, [credential.id])
  return row?.grant_id ?? null
}
