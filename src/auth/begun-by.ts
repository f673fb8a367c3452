import { eq, or, sql } from 'drizzle-orm'
import { type Db, first } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { identities } from '../db/tables/accounts.ts'
import { dashboardTokens, sessions } from '../db/tables/sessions.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

/** Of a session, or of the session behind a dashboard token. */
const linkOf = prepare(
  'auth.begun_by',
  { credentialId: 'uuid' },
  (orm, at) =>
    orm
      .select({ grantId: identities.linkedByGrantId })
      .from(sessions)
      .innerJoin(identities, eq(identities.id, sessions.identityId))
      .where(
        or(
          eq(sessions.id, at.credentialId),
          eq(
            sessions.id,
            sql`(select ${dashboardTokens.sessionId} from ${dashboardTokens} where ${dashboardTokens.id} = ${at.credentialId})`,
          ),
        ),
      ),
  'joined',
)

/**
 * The grant behind a credential: its own grant, else the grant that linked the sign-in method of its session. Whatever is created or linked
 * with such a credential ends when that grant is revoked.
 */
export const grantBehind = async (db: Db, credential: Principal['credential'], grantId: Uuid | null): Promise<Uuid | null> => {
  if (grantId !== null) return grantId
  return (await first(db, linkOf, { credentialId: credential.id }))?.grantId ?? null
}
