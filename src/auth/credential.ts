import { type Db, statement } from '../db/client.ts'
import { grantIsActive, keyIsActive, sessionIsActive } from '../db/credential-life.ts'
import type { Uuid } from '../lib/ids.ts'
import { administratorNames, administratorsSessionHours, isAdministratorSql } from './administrators.ts'
import { grantIsFrozen, linkerOf } from './authority-sql.ts'
import { type Principal, proofOf } from './principal.ts'

/** $1 credential id, $2 now, $3 idle days, $4 grant, $5 kind of the credential, $6 account, $7 administrators */
const activeCredential = statement('auth.active')`
  select s.id as "originSessionId", coalesce($4, ${linkerOf('i')}) as "originGrantId", s.proven_at as "provenAt",
     coalesce((select ${grantIsFrozen('x')} from grants x where x.id = coalesce($4, i.linked_by_grant_id)), false) as "grantFrozen"
   from accounts a
     left join dashboard_tokens d on d.id = $1 and $5 = 'dashboard' and d.expires_at > $2
     left join sessions s on s.id = case $5 when 'session' then $1 else d.session_id end
     left join api_keys k on k.id = case $5 when 'api_key' then $1 else d.api_key_id end
     left join identities i on i.id = s.identity_id
   where a.id = $6 and (k.id is null or a.api_keys_enabled)
     and (s.created_at > $2 - interval '${administratorsSessionHours} hours' or (${isAdministratorSql('$7')}) is not true or s.id is null)
     and ($4::uuid is null or exists (select from grants g where g.id = $4 and ${grantIsActive('g', '$2')}))
     and case $5 when 'oauth' then true when 'dashboard' then d.id is not null else num_nonnulls(s.id, k.id) > 0 end
     and (s.id is null or ${sessionIsActive('s', '$2', '$3')}) and (k.id is null or ${keyIsActive('k', '$2')})`

export type CredentialReference = Pick<Principal, 'accountId' | 'credential'> & { grant: { readonly id: Uuid } | null }

export type CredentialContext = Pick<Principal, 'originSessionId' | 'originGrantId' | 'grantFrozen' | 'proof'>

/**
 * The session, grant and proof behind a credential that is known only by its id, while the credential is valid. For an access
 * token only its grant is checked, because no OAuth grant has a permission for the operations that call this function.
 */
export const findActiveCredential = async (
  db: Db,
  { accountId, credential, grant }: CredentialReference,
  now: Date,
  config: { readonly SESSION_IDLE_DAYS: number; readonly ADMIN_ACCOUNTS: readonly string[] },
): Promise<CredentialContext | undefined> => {
  const { id, kind } = credential
  const admins = administratorNames(config.ADMIN_ACCOUNTS)
  const parameters = [id, now, config.SESSION_IDLE_DAYS, grant?.id ?? null, kind, accountId, admins]
  const [context] = await db.query<Omit<CredentialContext, 'proof'> & { provenAt: Date | null }>(activeCredential, parameters)
  return context && { ...context, proof: proofOf(credential.kind, grant !== null, context.provenAt) }
}
