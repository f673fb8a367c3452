import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import { type Db, statement, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { isoTime } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { revokeApiKey } from '../delegation/api-key-service.ts'
import { freezeGrants } from '../delegation/grant-service.ts'
import { apiKeyStatus } from '../delegation/present.ts'
import { listGrantsByIds, listKeysByIds } from '../delegation/queries.ts'
import { revokeGrants } from '../delegation/revoke-service.ts'
import { viewGrants, viewKeys } from '../delegation/view-service.ts'
import type { Parts } from '../parts.ts'
import { findActs, findLoosened, type SessionAct } from '../session-acts.ts'
import { endPendingInvitations } from '../workspaces/invitation-service.ts'
import { addsRights } from '../workspaces/member-service.ts'
import {
  invitationStatus,
  presentInvitation,
  presentMember,
  presentWorkspace,
  withState,
  workspaceStatus,
} from '../workspaces/present.ts'
import { listInvitationsByIds, listMembersByIds, listWorkspacesByIds } from '../workspaces/queries.ts'
import {
  freezeManagedWorkspaces,
  lockManagedWorkspaces,
  lowerMembers,
  type MemberTerms,
  mayManage,
  rolesIn,
} from '../workspaces/undo-service.ts'
import type { BeganHere } from './began-schema.ts'
import { detachIdentities } from './identities/link.ts'
import { listIdentities, presentIdentity } from './identities/queries.ts'
import { listPasskeys, presentPasskey, removePasskey } from './passkeys/service.ts'
import { findSession } from './sessions/service.ts'

/** `end`: with `everything`, all records that began there end too. */
export type Root = { kind: 'session' | 'identity'; id: Uuid; end: 'everything' | undefined }

// Additions descend from a root, a session or a sign-in method that may be a thief's. Changes are its acts on older records. With
// `end=everything`, additions end, raised roles are lowered, widened grants are frozen; loosened policies are only listed.

/**
 * Additions of account $1 below the root of kind $2 and id $3, except $4 and $5, the caller's own session and its method.
 * Kinds and their parents, in the order of the query:
 * - identity: linked in a session or through a grant. If it was removed since, only the audit log shows it (`removed`);
 * - session: begun with an identity;
 * - grant: created in a session, or derived from a grant;
 * - api_key: created in a session, or held under a grant;
 * - passkey: added in a session;
 * - invitation and member: sent in a session or through a grant; joined by an invitation; sent by such a member;
 * - workspace: created in a session or through a grant.
 */
const findDescendants = statement('origins.trace')`
  with recursive removed as materialized (
     select distinct s.began_by_identity_id as id, l.credential_id as session_id
     from sessions s join audit_log l on l.subject_id = s.began_by_identity_id and l.action = 'identity.link'
     where s.account_id = $1 and not exists (select from identities i where i.id = s.began_by_identity_id)
   ), descendants(kind, id) as (
     select $2::text, $3::uuid
     union
     select next.kind, next.id from descendants parent cross join lateral (
       select 'identity' as kind, i.id from identities i
       where i.account_id = $1 and case parent.kind when 'session' then i.origin_session_id when 'grant' then i.linked_by_grant_id end = parent.id
       union all select 'identity', r.id from removed r where parent.kind = 'session' and r.session_id = parent.id
       union all select 'session', s.id from sessions s
       where parent.kind = 'identity' and s.account_id = $1 and coalesce(s.began_by_identity_id, s.identity_id) = parent.id
       union all select 'grant', g.id from grants g
       where g.account_id = $1 and ((parent.kind = 'session' and g.origin_session_id = parent.id)
         or (parent.kind = 'grant' and (g.parent_grant_id = parent.id or g.derived_from_grant_id = parent.id)))
       union all select 'api_key', k.id from api_keys k
       where k.account_id = $1 and case parent.kind when 'session' then k.origin_session_id when 'grant' then k.grant_id end = parent.id
       union all select 'passkey', p.id from passkeys p where parent.kind = 'session' and p.account_id = $1 and p.origin_session_id = parent.id
       union all select 'invitation', v.id from invitations v
       where v.invited_by = $1 and case parent.kind when 'session' then v.origin_session_id when 'grant' then v.origin_grant_id end = parent.id
       union all select 'member', m.id from invitations v join members m on m.workspace_id = v.workspace_id and m.account_id = v.accepted_by
       where parent.kind = 'invitation' and v.id = parent.id and coalesce(m.invitation_id, v.id) = v.id
       union all select 'invitation', v.id from members m
         join invitations v on v.workspace_id = m.workspace_id and v.invited_by = m.account_id and v.created_at >= m.created_at
       where parent.kind = 'member' and m.id = parent.id
       union all select 'workspace', w.id from workspaces w
       where w.owning_account_id = $1 and case parent.kind when 'session' then w.origin_session_id when 'grant' then w.origin_grant_id end = parent.id
     ) next where next.id is distinct from $4 and next.id is distinct from $5
   ) select kind, id from descendants where id <> $3`

type Descendant = {
  kind: 'session' | 'identity' | 'grant' | 'api_key' | 'passkey' | 'invitation' | 'member' | 'workspace'
  id: Uuid
}

const traceFrom = async (db: Db, { accountId, originSessionId: ownSessionId }: Principal, root: Pick<Root, 'kind' | 'id'>) => {
  const session = ownSessionId === null ? undefined : await findSession(db, { accountId, id: ownSessionId })
  const excluded = [ownSessionId, session?.beganByIdentityId ?? session?.identityId ?? null]
  const descendants = await db.query<Descendant>(findDescendants, [accountId, root.kind, root.id, ...excluded])
  const actorIds = [root, ...descendants].filter(({ kind }) => kind === 'session' || kind === 'grant').map(({ id }) => id)
  const acts = await findActs(db, accountId, actorIds)
  return {
    descendants,
    acts,
    idsOf: (kind: Descendant['kind']) => descendants.flatMap((one) => (one.kind === kind ? [one.id] : [])),
    changedBy: (kind: SessionAct['kind']) => acts.flatMap((act) => (act.kind === kind ? [act.recordId] : [])),
  }
}

const affectedAccounts = statement('origins.accounts_reached')`
  select distinct unnest(array[m.account_id, w.owning_account_id, w.balance_account_id]) as id
   from members m join workspaces w on w.id = m.workspace_id where m.id = any($1::uuid[])
   union select balance_account_id from workspaces where id = any($2::uuid[])
   union select account_id from grants where id = any($3::uuid[])`

/** Accounts of members whose role may end, of their workspaces and of widened grants. They are among the first locks. */
export const findAffectedAccounts = async (db: Db, principal: Principal, root: Root): Promise<Uuid[]> => {
  if (root.end === undefined || principal.originGrantId !== null) return []
  const { idsOf, changedBy } = await traceFrom(db, principal, root)
  const known = [[...idsOf('member'), ...changedBy('role')], idsOf('workspace'), changedBy('widened')]
  const rows = await db.query<{ id: Uuid | null }>(affectedAccounts, known)
  return rows.flatMap(({ id }) => id ?? [])
}

const parseRole = (text: string | null): MemberTerms | undefined =>
  text === null ? undefined : (JSON.parse(text) as MemberTerms)

/**
 * Finds the additions that are still active, and the changes. Leaves out what the account may no longer read: everything in a
 * workspace that it has left, and invitations and other accounts' grants in one that it no longer manages. The account is
 * locked, so that nothing is added meanwhile.
 */
const findAdditions = async (tx: Tx, principal: Principal, root: Root) => {
  const { accountId } = principal
  const { at } = tx
  const { descendants, acts, idsOf, changedBy } = await traceFrom(tx, principal, root)
  const addedIds = new Set(descendants.map(({ id }) => id))
  const [identities, passkeys, keys, grants, invitations, members, raised, workspaces, widened] = await Promise.all([
    listIdentities(tx, { accountId }),
    listPasskeys(tx, { accountId }),
    listKeysByIds(tx, idsOf('api_key')),
    listGrantsByIds(tx, idsOf('grant')),
    listInvitationsByIds(tx, idsOf('invitation')),
    listMembersByIds(tx, idsOf('member')),
    listMembersByIds(tx, changedBy('role')),
    listWorkspacesByIds(tx, idsOf('workspace')),
    listGrantsByIds(tx, changedBy('widened')),
  ])
  const concerned = [...acts, ...invitations, ...members].map(({ workspaceId }) => workspaceId)
  const ownRoles = await rolesIn(tx, accountId, [...concerned, ...workspaces.map(({ id }) => id)])
  const isIn = ({ workspaceId }: { workspaceId: Uuid }): boolean => ownRoles.has(workspaceId)
  const isManaged = ({ workspaceId }: { workspaceId: Uuid }): boolean => mayManage(ownRoles.get(workspaceId))
  // Compared with the role before the first act: a thief, or an accomplice, may have lowered the raised role by a step since.
  const roles = raised.filter(isIn).flatMap((member) => {
    const act = acts.find(({ kind, recordId }) => kind === 'role' && recordId === member.id)
    const before = parseRole(act?.before ?? null)
    const isRaised = before && addsRights(before, member) && !addedIds.has(member.id)
    return act && isRaised ? [{ member, before, raisedAt: act.createdAt }] : []
  })
  const isActive = (grant: (typeof grants)[number]): boolean => grantLife(grant, at) === 'active'
  return {
    identities: identities.filter(({ id }) => addedIds.has(id)),
    passkeys: passkeys.filter(({ id }) => addedIds.has(id)),
    apiKeys: keys.filter(({ key, grant }) => apiKeyStatus(key, grant, at) === 'active'),
    grants: grants.filter(isActive),
    invitations: invitations.filter((one) => isManaged(one) && ['pending', 'accepted'].includes(invitationStatus(one, at))),
    members: members.filter((member) => isIn(member) && member.status === 'active'),
    roles,
    workspaces: workspaces.filter((workspace) => ownRoles.has(workspace.id) && workspaceStatus(workspace) === 'active'),
    widened: widened.filter((grant) => {
      const isOlder = isActive(grant) && grant.frozenAt === null && !addedIds.has(grant.id)
      return isOlder && (grant.accountId === accountId || isManaged(grant))
    }),
    loosened: await findLoosened(tx, acts.filter(isIn)),
  }
}

type Additions = Awaited<ReturnType<typeof findAdditions>>

/** Maximum number of records per kind in the response, because an attacker controls how many there are. */
const maxShown = 100

/** Sorts by id, because ids grow with time. */
const newest = <Row>(rows: readonly Row[], idOf: (row: Row) => string): Row[] =>
  rows.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1)).slice(0, maxShown)

const idOf = ({ id }: { id: string }) => id

/** Presents the records in their current state. Changes that the account may no longer undo are left to a person. */
const presentAdditions = async (tx: Tx, currency: string, additions: Additions, ended: boolean): Promise<BeganHere> => {
  const { at } = tx
  const revoked = ended ? { revokedAt: at } : {}
  const keys = newest(additions.apiKeys, ({ key }) => key.id).map(({ key, grant }) => ({ key: { ...key, ...revoked }, grant }))
  const grants = newest(additions.grants, idOf).map((grant) => ({ ...grant, ...revoked }))
  const ids = (rows: readonly { id: Uuid }[]) => newest(rows, idOf).map(({ id }) => id)
  const roles = newest(additions.roles, ({ member }) => member.id)
  const [keyViews, grantViews, members, raised, workspaces, widened] = await Promise.all([
    viewKeys(tx, at, keys),
    viewGrants(tx, at, grants),
    listMembersByIds(tx, ids(additions.members)),
    listMembersByIds(tx, ids(roles.map(({ member }) => member))),
    listWorkspacesByIds(tx, ids(additions.workspaces)),
    listGrantsByIds(tx, ids(additions.widened)),
  ])
  return {
    identities: newest(additions.identities, idOf).map((row) => presentIdentity(row)),
    passkeys: newest(additions.passkeys, idOf).map((row) => presentPasskey(row)),
    api_keys: keyViews,
    grants: grantViews,
    invitations: newest(additions.invitations, idOf).map((invitation) =>
      presentInvitation(invitationStatus(invitation, at) === 'pending' ? { ...invitation, ...revoked } : invitation, at),
    ),
    members: members.map(presentMember),
    roles: roles.flatMap(({ member: { id }, before, raisedAt }) => {
      const member = raised.find((one) => one.id === id)
      const was = { role_before: before.role, status_before: before.status, raised_at: isoTime(raisedAt) }
      return member ? [{ ...presentMember(member), ...was }] : []
    }),
    workspaces: workspaces.map((workspace) => presentWorkspace(withState(workspace), currency)),
    widened: await viewGrants(tx, at, widened),
    loosened: newest(additions.loosened, idOf),
  }
}

type EndDeps = Pick<Parts, 'config' | 'onAuthorityLost' | 'onGrantsRevoked' | 'onRequesterLost'>

/** Ends grants first, because their keys and the sign-in methods that they linked end with them. */
const endAdditions = async (tx: Tx, deps: EndDeps, principal: Principal, additions: Additions) => {
  const { accountId } = principal
  const grantIds = additions.grants.map(({ id }) => id)
  await revokeGrants(tx, deps.onGrantsRevoked, principal, grantIds)
  // A rotated key belongs to a grant that existed before the session.
  for (const { key } of additions.apiKeys)
    if (!grantIds.includes(key.grantId)) await revokeApiKey(tx, deps.onGrantsRevoked, principal, key.id)
  const identityIds = additions.identities.map(({ id }) => id)
  await detachIdentities(tx, deps, principal, identityIds)
  for (const { id } of additions.passkeys) await removePasskey(tx, deps.onAuthorityLost, principal, id)
  await endPendingInvitations(tx, principal, additions.invitations)
  const ofOthers = additions.widened.filter((grant) => grant.accountId !== accountId).map(({ workspaceId }) => workspaceId)
  const managed = await lockManagedWorkspaces(tx, accountId, ofOthers)
  const widened = additions.widened.filter((grant) => grant.accountId === accountId || managed.has(grant.workspaceId))
  const widenedIds = widened.map(({ id }) => id)
  await freezeGrants(tx, principal, widenedIds)
  await freezeManagedWorkspaces(tx, deps.config, principal, additions.workspaces)
  const targetRoles = new Map<Uuid, MemberTerms>([
    ...additions.roles.map(({ member, before }) => [member.id, before] as const),
    ...additions.members.map(({ id, role }) => [id, { role, status: 'suspended' }] as const),
  ])
  await lowerMembers(tx, deps, principal, [...additions.members, ...additions.roles.map(({ member }) => member)], targetRoles)
}

/**
 * Ends a session or a sign-in method with `end`, and returns what began there (`beganHere`), or null if the caller is a key. With
 * `everything`, these records end too, except the caller's own session and its method. If no sign-in method would remain, nothing
 * ends.
 */
export const endWithOrigins = async <Ended>(
  tx: Tx,
  deps: EndDeps,
  principal: Principal,
  root: Root,
  end: (tx: Tx) => Promise<Ended>,
): Promise<{ ended: Ended; beganHere: BeganHere | null }> => {
  const everything = root.end === 'everything'
  // Keys, passkeys and invitations belong to the whole account, so a key, or a method that a key linked, cannot end them.
  if (everything && principal.originGrantId !== null)
    throw new Refusal('forbidden', { message: 'Only a person in their own session can end everything that began there.' })
  if (everything) requireFreshProof(principal, tx.at)
  const additions = principal.grant ? null : await findAdditions(tx, principal, root)
  const identityIds = additions?.identities.map(({ id }) => id) ?? []
  if (everything && additions) {
    const attached = await listIdentities(tx, { accountId: principal.accountId })
    if (attached.every(({ id }) => id === root.id || identityIds.includes(id))) throw new Refusal('last_identity')
  }
  const ended = await end(tx)
  if (everything && additions) await endAdditions(tx, deps, principal, additions)
  return { ended, beganHere: additions && (await presentAdditions(tx, deps.config.CURRENCY, additions, everything)) }
}
