import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

type Kind = Principal['credential']['kind']

const session = `s.revoked_at is null and s.expires_at > $2 and s.last_used_at + make_interval(days => $3::int) > $2`
const key = `(k.revoked_at is null or k.revoked_at > $2) and (k.expires_at is null or k.expires_at > $2)`
const grant = statement(
  'auth.alive.grant',
  'select from grants g where g.id = $1 and g.revoked_at is null and (g.expires_at is null or g.expires_at > $2)',
)

const statements: Readonly<Record<Exclude<Kind, 'oauth'>, ReturnType<typeof statement>>> = {
  session: statement('auth.alive.session', `select from sessions s where s.id = $1 and ${session}`),
  api_key: statement('auth.alive.api_key', `select from api_keys k where k.id = $1 and $3::int is not null and ${key}`),
  dashboard: statement(
    'auth.alive.dashboard',
    `select from dashboard_tokens d left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id
     where d.id = $1 and d.expires_at > $2 and (s.id is null or (${session})) and (k.id is null or (${key}))`,
  ),
}

export type Credential = Pick<Principal, 'credential'> & { grantId: Uuid | null }

/**
 * Whether a credential that began something would still be accepted now, without having it. An access token lives as long as its
 * grant here: what it may begin it can't, for its grant carries no permission for it.
 */
export const isCredentialActive = async (
  db: Db,
  { credential, grantId }: Credential,
  now: Date,
  sessionIdleDays: number,
): Promise<boolean> => {
  const { kind, id } = credential
  if (grantId !== null && (await db.query(grant, [grantId, now])).length === 0) return false
  return kind === 'oauth' || (await db.query(statements[kind], [id, now, sessionIdleDays])).length > 0
}
