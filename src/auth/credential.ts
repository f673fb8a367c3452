import { eq, or, sql } from 'drizzle-orm'
import { type Db, first, statement } from '../db/client.ts'
import { grantIsActive, keyIsActive, sessionIsActive } from '../db/credential-life.ts'
import { prepare } from '../db/prepare.ts'
import { selectRow } from '../db/select-rows.ts'
import { identities } from '../db/tables/accounts.ts'
import { dashboardTokens, sessions } from '../db/tables/sessions.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

const findDashboardToken = selectRow('sessions.of_dashboard_token', dashboardTokens, ['id'])

/** The browser's session that a caller acts in, also when the caller acts with a dashboard token that the session issued. */
export const sessionBehind = async (db: Db, { kind, id }: Principal['credential']): Promise<Uuid | null> => {
  if (kind === 'session') return id
  return kind === 'dashboard' ? ((await findDashboardToken(db, { id }))?.sessionId ?? null) : null
}

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
 * The grant behind a credential: its own grant, else the one that linked the sign-in method of its session. What is created or linked with the
 * credential ends with that grant.
 */
export const grantBehind = async (db: Db, credential: Principal['credential'], grantId: Uuid | null): Promise<Uuid | null> => {
  if (grantId !== null) return grantId
  return (await first(db, linkOf, { credentialId: credential.id }))?.grantId ?? null
}

const session = sessionIsActive('s', '$2', '$3')
const key = keyIsActive('k', '$2')
const active = statement(
  'auth.active',
  `select where ($4::uuid is null or exists (select from grants g where g.id = $4 and ${grantIsActive('g', '$2')})) and case $5
     when 'session' then exists (select from sessions s where s.id = $1 and ${session})
     when 'api_key' then exists (select from api_keys k where k.id = $1 and ${key})
     when 'dashboard' then exists (
       select from dashboard_tokens d left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id
       where d.id = $1 and d.expires_at > $2 and (s.id is null or ${session}) and (k.id is null or ${key}))
     else true end`,
)

type Credential = Pick<Principal, 'credential'> & { grantId: Uuid | null }

/**
 * Whether a credential that is known only by its id is still accepted. For an access token only its grant is checked: an OAuth grant has no
 * permission for anything that uses this.
 */
export const isCredentialActive = async (db: Db, { credential, grantId }: Credential, now: Date, sessionIdleDays: number) =>
  (await db.query(active, [credential.id, now, sessionIdleDays, grantId, credential.kind])).length > 0
