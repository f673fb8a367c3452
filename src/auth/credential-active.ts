import { type Db, statement } from '../db/client.ts'
import { grantIsActive, keyIsActive, sessionIsActive } from '../db/credential-life.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Principal } from './principal.ts'

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

export type Credential = Pick<Principal, 'credential'> & { grantId: Uuid | null }

/**
 * Whether a credential would still be accepted now, known only by its id. An access token is active as long as its grant here: that is
 * enough, because an OAuth grant has no permission for anything that uses this.
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
