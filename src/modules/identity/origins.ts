import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import { statement, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { apiKeyStatus, viewGrants, viewKeys } from '../delegation/present.ts'
import { findGrant, findKey, scopeOf } from '../delegation/queries.ts'
import { revokeApiKey, revokeOwnGrant } from '../delegation/service.ts'
import type { Parts } from '../parts.ts'
import { endPendingInvitation } from '../workspaces/invitation-service.ts'
import { invitationStatus, presentInvitation } from '../workspaces/present.ts'
import { listInvitationsWith } from '../workspaces/queries.ts'
import { detachThese } from './identities/link.ts'
import { listIdentities, presentIdentity } from './identities/queries.ts'
import { listPasskeys, presentPasskey, removePasskey } from './passkeys/service.ts'
import type { BeganHere } from './schema.ts'
import { findSession } from './sessions/service.ts'

/** `end`: with `everything` what began there ends too. */
type Root = { kind: 'session' | 'identity'; id: Uuid; end: 'everything' | undefined }

/**
 * What began with a session or a sign-in method. A thief may link a method, begin a session with it and remove it: only the audit log says in which
 * session a removed method was linked. $4 and $5 are spared: the caller's own session and the method that began it.
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

/**
 * What was added in the root session or by the root method, or through what was added there, and is still active. The account is locked: nothing is
 * added meanwhile.
 */
const findBegun = async (tx: Tx, principal: Principal, root: Root) => {
  const { accountId, originSessionId: own } = principal
  const session = own === null ? undefined : await findSession(tx, { accountId, id: own })
  const spared = [own, session?.beganByIdentityId ?? session?.identityId ?? null]
  const traced = await tx.query<Traced>(trace, [accountId, root.kind, root.id, ...spared])
  const idsOf = (kind: Traced['kind']): Uuid[] => traced.flatMap((one) => (one.kind === kind ? [one.id] : []))
  const began = new Set(traced.map(({ id }) => id))
  const scope = scopeOf(principal)
  const [identities, passkeys, keys, grants, invitations] = await Promise.all([
    listIdentities(tx, { accountId }),
    listPasskeys(tx, { accountId }),
    Promise.all(idsOf('api_key').map((id) => findKey(tx, scope, id))),
    Promise.all(idsOf('grant').map((id) => findGrant(tx, scope, id))),
    listInvitationsWith(tx, idsOf('invitation')),
  ])
  const { at } = tx
  return {
    identities: identities.filter(({ id }) => began.has(id)),
    passkeys: passkeys.filter(({ id }) => began.has(id)),
    apiKeys: keys.flatMap((one) => (one && apiKeyStatus(one.key, one.grant, at) === 'active' ? [one] : [])),
    grants: grants.flatMap((grant) => (grant && grantLife(grant, at) === 'active' ? [grant] : [])),
    invitations: invitations.filter((one) => ['pending', 'accepted'].includes(invitationStatus(one, at))),
  }
}

type Begun = Awaited<ReturnType<typeof findBegun>>

/** An attacker chooses how much began there. */
const most = 100

/** Ids grow with time. */
const newest = <Row>(rows: readonly Row[], idOf: (row: Row) => string): Row[] =>
  rows.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1)).slice(0, most)

const idOf = ({ id }: { id: string }) => id

const presentBegun = async (tx: Tx, begun: Begun, ended: boolean): Promise<BeganHere> => {
  const { at } = tx
  const revoked = ended ? { revokedAt: at } : {}
  const keys = newest(begun.apiKeys, ({ key }) => key.id).map(({ key, grant }) => ({ key: { ...key, ...revoked }, grant }))
  const grants = newest(begun.grants, idOf).map((grant) => ({ ...grant, ...revoked }))
  const [keyViews, grantViews] = await Promise.all([viewKeys(tx, at, keys), viewGrants(tx, at, grants)])
  return {
    identities: newest(begun.identities, idOf).map((row) => presentIdentity(row)),
    passkeys: newest(begun.passkeys, idOf).map((row) => presentPasskey(row)),
    api_keys: keyViews,
    grants: grantViews,
    invitations: newest(begun.invitations, idOf).map((invitation) =>
      presentInvitation(invitationStatus(invitation, at) === 'pending' ? { ...invitation, ...revoked } : invitation, at),
    ),
  }
}

type EndDeps = Pick<Parts, 'config' | 'onAuthorityLost' | 'onGrantsRevoked'>

/** Grants first: with them end their keys, and the sign-in methods that they linked. */
const endBegun = async (tx: Tx, deps: EndDeps, principal: Principal, begun: Begun, identityIds: readonly Uuid[]) => {
  for (const { id } of begun.grants) await revokeOwnGrant(tx, deps.onGrantsRevoked, principal, id)
  for (const { key } of begun.apiKeys) await revokeApiKey(tx, deps.onGrantsRevoked, principal, key.id)
  await detachThese(tx, deps, principal, identityIds)
  for (const { id } of begun.passkeys) await removePasskey(tx, deps.onAuthorityLost, principal, id)
  for (const invitation of begun.invitations) await endPendingInvitation(tx, principal, invitation)
}

/**
 * Ends a session or a sign-in method by `end`, and says what began there. With `everything` that ends too, except the caller's own session and the
 * method that began it. If no way to sign in would stay, nothing is done. Null: the caller is a key.
 */
export const endWithOrigins = async <Ended>(
  tx: Tx,
  deps: EndDeps,
  principal: Principal,
  root: Root,
  end: (tx: Tx) => Promise<Ended>,
): Promise<{ ended: Ended; beganHere: BeganHere | null }> => {
  const everything = root.end === 'everything'
  // Keys, passkeys and invitations are the whole account's: who acts for it by a key, or by what a key linked, does not end them.
  if (everything && principal.originGrantId !== null)
    throw new Refusal('forbidden', { message: 'Only a person in their own session can end everything that began there.' })
  if (everything) requireFreshProof(principal, tx.at)
  const begun = principal.grant ? null : await findBegun(tx, principal, root)
  const identityIds = begun?.identities.map(({ id }) => id) ?? []
  if (everything && begun) {
    const attached = await listIdentities(tx, { accountId: principal.accountId })
    if (attached.every(({ id }) => id === root.id || identityIds.includes(id))) throw new Refusal('last_identity')
  }
  const ended = await end(tx)
  if (everything && begun) await endBegun(tx, deps, principal, begun, identityIds)
  return { ended, beganHere: begun && (await presentBegun(tx, begun, everything)) }
}
