import type { Principal } from '../../../auth/principal.ts'
import { sessionBehind } from '../../../auth/session-behind.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { grantLife } from '../../../db/credential-life.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findKey, type KeyWithGrant } from '../../delegation/api-keys/queries.ts'
import { apiKeyStatus } from '../../delegation/grants/key-present.ts'
import { findGrant, type GrantRecord, scopeOf } from '../../delegation/grants/queries.ts'
import { invitationStatus } from '../../workspaces/invitations/present.ts'
import { type InvitationRecord, listInvitationsWith } from '../../workspaces/invitations/queries.ts'
import { type IdentityRecord, listIdentities } from '../identities/queries.ts'
import { listPasskeys, type PasskeyRecord } from '../passkeys/queries.ts'
import { findSession } from '../sessions/queries.ts'

/** A session, or a sign-in method with the sessions that it began. */
export type Root = { kind: 'session' | 'identity'; id: Uuid }

/** What was added there, or through what was added there, and lives still. An accepted invitation is a member by now. */
export type Begun = {
  identities: IdentityRecord[]
  passkeys: PasskeyRecord[]
  apiKeys: KeyWithGrant[]
  grants: GrantRecord[]
  invitations: InvitationRecord[]
}

/**
 * Of a sign-in method that is gone only the audit log says in which session it was linked: one that a thief has used up between two others breaks
 * no chain. $4 and $5 are spared: the caller's own session and the method that began it.
 */
const trace = statement(
  'origins.trace',
  `with recursive gone as materialized (
     select distinct s.began_by_identity_id as id, l.credential_id as session_id
     from sessions s join audit_log l on l.subject_id = s.began_by_identity_id and l.action = 'identity.link'
     where s.account_id = $1 and not exists (select from identities i where i.id = s.began_by_identity_id)
   ), begun(kind, id) as (
     select $2::text, $3::uuid
     union
     select next.kind, next.id from begun b cross join lateral (
       select 'identity' as kind, i.id from identities i
       where i.account_id = $1 and case b.kind when 'session' then i.origin_session_id when 'grant' then i.linked_by_grant_id end = b.id
       union all select 'identity', g.id from gone g where b.kind = 'session' and g.session_id = b.id
       union all select 'session', s.id from sessions s
       where b.kind = 'identity' and s.account_id = $1 and coalesce(s.began_by_identity_id, s.identity_id) = b.id
       union all select 'grant', g.id from grants g
       where g.account_id = $1 and ((b.kind = 'session' and g.origin_session_id = b.id)
         or (b.kind = 'grant' and (g.parent_grant_id = b.id or g.derived_from_grant_id = b.id)))
       union all select 'api_key', k.id from api_keys k
       where k.account_id = $1 and case b.kind when 'session' then k.origin_session_id when 'grant' then k.grant_id end = b.id
       union all select 'passkey', p.id from passkeys p where b.kind = 'session' and p.account_id = $1 and p.origin_session_id = b.id
       union all select 'invitation', v.id from invitations v
       where v.invited_by = $1 and case b.kind when 'session' then v.origin_session_id when 'grant' then v.origin_grant_id end = b.id
     ) next where next.id is distinct from $4 and next.id is distinct from $5
   ) select kind, id from begun where id <> $3`,
)

type Traced = { kind: 'session' | 'identity' | 'grant' | 'api_key' | 'passkey' | 'invitation'; id: Uuid }

const present = <Row>(rows: readonly (Row | undefined)[]): Row[] => rows.flatMap((row) => row ?? [])

/** The account is locked: nothing is added meanwhile. */
export const findBegun = async (tx: Tx, principal: Principal, root: Root): Promise<Begun> => {
  const { accountId } = principal
  const own = await sessionBehind(tx, principal.credential)
  const session = own === null ? undefined : await findSession(tx, accountId, own)
  const spared = [own, session?.beganByIdentityId ?? session?.identityId ?? null]
  const traced = await tx.query<Traced>(trace, [accountId, root.kind, root.id, ...spared])
  const idsOf = (kind: Traced['kind']): Uuid[] => traced.flatMap((one) => (one.kind === kind ? [one.id] : []))
  const among = <Row extends { id: Uuid }>(rows: readonly Row[], kind: Traced['kind']): Row[] => {
    const ids = new Set(idsOf(kind))
    return rows.filter(({ id }) => ids.has(id))
  }
  const scope = scopeOf(principal)
  const [identities, passkeys, keys, grants, invitations] = await Promise.all([
    listIdentities(tx, accountId),
    listPasskeys(tx, accountId),
    Promise.all(idsOf('api_key').map((id) => findKey(tx, scope, id))),
    Promise.all(idsOf('grant').map((id) => findGrant(tx, scope, id))),
    listInvitationsWith(tx, idsOf('invitation')),
  ])
  const { at } = tx
  const ends = (grant: GrantRecord) => ({
    revoked_at: grant.revokedAt?.toISOString() ?? null,
    expires_at: grant.expiresAt?.toISOString() ?? null,
  })
  return {
    identities: among(identities, 'identity'),
    passkeys: among(passkeys, 'passkey'),
    apiKeys: present(keys).filter(({ key, grant }) => apiKeyStatus(key, ends(grant), at) === 'active'),
    grants: present(grants).filter((grant) => grantLife(grant, at) === 'active'),
    invitations: invitations.filter((one) => ['pending', 'accepted'].includes(invitationStatus(one, at))),
  }
}
