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

/** Also when the caller acts with a dashboard token that the session issued. */
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

/** Its own grant, else the one that linked the sign-in method of its session: whatever the credential makes or links ends with that grant. */
export const grantBehind = async (db: Db, credential: Principal['credential'], grantId: Uuid | null): Promise<Uuid | null> => {
  if (grantId !== null) return grantId
  return (await first(db, linkOf, { credentialId: credential.id }))?.grantId ?? null
}

type Kind = Principal['credential']['kind']

const session = sessionIsActive('s', '$2', '$3')
const key = keyIsActive('k', '$2')
const grant = statement('auth.active.grant', `select from grants g where g.id = $1 and ${grantIsActive('g', '$2')}`)

const statements: Readonly<Record<Exclude<Kind, 'oauth'>, ReturnType<typeof statement>>> = {
  session: statement('auth.active.session', `select from sessions s where s.id = $1 and ${session}`),
  api_key: statement('auth.active.api_key', `select from api_keys k where k.id = $1 and $3::int is not null and ${key}`),
  dashboard: statement(
    'auth.active.dashboard',
    `select from dashboard_tokens d left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id
     where d.id = $1 and d.expires_at > $2 and (s.id is null or ${session}) and (k.id is null or ${key})`,
  ),
}

type Credential = Pick<Principal, 'credential'> & { grantId: Uuid | null }

/** Known only by its id. Of an access token its grant is enough: an OAuth grant has no permission for anything that uses this. */
export const isCredentialActive = async (db: Db, { credential, grantId }: Credential, now: Date, sessionIdleDays: number) => {
  const { kind, id } = credential
  if (grantId !== null && (await db.query(grant, [grantId, now])).length === 0) return false
  return kind === 'oauth' || (await db.query(statements[kind], [id, now, sessionIdleDays])).length > 0
}
