import { type Db, statement } from '../db/client.ts'
import type { Clock } from '../lib/clock.ts'
import { daysAfter } from '../lib/clock.ts'
import { notFound, Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { effectivePermissions, type Role } from './permissions.ts'
import type { Authenticated, Principal } from './principal.ts'
import { apiKeyLookup, apiKeyPattern, equalBytes, hashApiKey, secretPrefixes, sha256 } from './secrets.ts'

export type ResolverDeps = { db: Db; clock: Clock; sessionIdleDays: number; adminAccounts: readonly string[] }

/** `workspaceId`: the workspace that an un-delegated caller names for this request (header `Workspace-Id`). */
export type Resolve = (secret: string, workspaceId: Uuid | null) => Promise<Authenticated>

export type IdentityRow = {
  account_id: Uuid
  account_status: Principal['accountStatus']
  topups_enabled: boolean
  payments_enabled: boolean
  api_keys_enabled: boolean
  oauth_enabled: boolean
  workspace_id: Uuid
  owning_account_id: Uuid
  frozen: boolean
  closed: boolean
  /** A workspace stands still when the account whose money it spends does. */
  owner_status: Principal['accountStatus']
  time_zone: string
  next_time_zone: string | null
  next_time_zone_from: Date | null
  role: Role | null
  member_suspended: boolean | null
}
export type GrantRow = {
  grant_id: Uuid
  lineage: Uuid[]
  granted: string[]
  grant_frozen: boolean
  grant_revoked_at: Date | null
  grant_expires_at: Date | null
}

export const identityColumns = `
  a.id as account_id, a.status as account_status, a.topups_enabled, a.payments_enabled, a.api_keys_enabled, a.oauth_enabled,
  w.id as workspace_id, w.owning_account_id, w.frozen_at is not null or w.suspended_at is not null as frozen, w.closed_at is not null as closed,
  (select o.status from accounts o where o.id = w.owning_account_id) as owner_status,
  w.time_zone, w.next_time_zone, w.next_time_zone_from,
  m.role, m.status = 'suspended' as member_suspended`
export const grantColumns = `
  g.id as grant_id, g.ancestor_ids || g.id as lineage, g.permissions as granted, g.revoked_at as grant_revoked_at, g.expires_at as grant_expires_at,
  g.frozen_at is not null or exists (select from grants x where x.id = any(g.ancestor_ids) and x.frozen_at is not null) as grant_frozen`
const isAdmin = `(a.is_admin or lower(a.email) = any($2::text[]) or exists (
  select from identities i where i.account_id = a.id and i.provider = 'wallet' and i.subject_key = any($2::text[]))) as is_admin`

const byApiKey = statement(
  'auth.api_key',
  `select k.id, k.salt, k.hash, k.revoked_at, k.expires_at, k.last_used_at, ${identityColumns}, ${grantColumns}
   from api_keys k join grants g on g.id = k.grant_id join accounts a on a.id = k.account_id join workspaces w on w.id = k.workspace_id
   left join members m on m.workspace_id = w.id and m.account_id = a.id
   where k.lookup = $1`,
)
const bySession = statement(
  'auth.session',
  `select s.id, s.expires_at, s.revoked_at, s.last_used_at, ${isAdmin}, ${identityColumns}
   from sessions s join accounts a on a.id = s.account_id join workspaces w on w.id = coalesce($3::uuid, s.workspace_id)
   left join members m on m.workspace_id = w.id and m.account_id = a.id
   where s.token_hash = $1`,
)
const touchSession = statement('auth.touch_session', 'update sessions set last_used_at = $2 where id = $1 and last_used_at < $2')
/** A grant that somebody holds is left for the next request: no one waits for a payment, or deadlocks with a revocation, to be let in. */
const touchApiKey = statement(
  'auth.touch_api_key',
  `with held as (select id from grants where id = $3 for no key update skip locked),
   noted as (update grants g set last_used_at = $2 from held where g.id = held.id)
   update api_keys k set last_used_at = $2 from held where k.id = $1`,
)

/** How stale "last used" may be: one write a minute and credential, not one a request. */
export const touchAfterMs = 60_000

const zoneOf = (row: IdentityRow) => ({
  timeZone: row.time_zone,
  nextTimeZone: row.next_time_zone,
  nextFrom: row.next_time_zone_from,
})

export const principalFrom = (
  row: IdentityRow,
  credential: Principal['credential'],
  expiresAt: Date | null,
  grant: GrantRow | null,
  admin: boolean,
): Authenticated => {
  if (row.account_status === 'closed') throw new Refusal('invalid_token', { message: 'The account is closed.' })
  const suspended = row.member_suspended ?? false
  return {
    accountId: row.account_id,
    accountStatus: row.account_status,
    capabilities: {
      topups: row.topups_enabled,
      payments: row.payments_enabled,
      apiKeys: row.api_keys_enabled,
      oauth: row.oauth_enabled,
    },
    workspace: {
      id: row.workspace_id,
      owningAccountId: row.owning_account_id,
      frozen: row.frozen || row.owner_status === 'frozen',
      closed: row.closed || row.owner_status === 'closed',
      zone: zoneOf(row),
    },
    role: row.role,
    memberSuspended: suspended,
    permissions: effectivePermissions(suspended ? null : row.role, grant ? grant.granted : null),
    grant: grant ? { id: grant.grant_id, lineage: grant.lineage, frozen: grant.grant_frozen } : null,
    isAdmin: admin && !grant,
    credential,
    expiresAt,
  }
}

/** A grant is bound to its workspace: naming another one is refused, naming its own changes nothing. */
export const refuseForeignWorkspace = (bound: Uuid, named: Uuid | null): void => {
  if (named !== null && named !== bound)
    throw new Refusal('forbidden', { message: 'This credential is bound to another workspace.' })
}

/** No row: the secret names nothing, or it is good and the workspace named with it isn't there, which is the 404 of any other's. */
const refuseUnknown = async (resolve: Resolve, secret: string, workspaceId: Uuid | null, message: string): Promise<never> => {
  if (workspaceId === null) throw new Refusal('invalid_token', { message })
  await resolve(secret, null)
  throw notFound()
}

export const earliest = (...times: (Date | null)[]): Date | null =>
  times.reduce((first, time) => (time && (!first || time < first) ? time : first), null)

const resolveApiKey =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId) => {
    const unknown = () => new Refusal('invalid_token', { message: 'The API key is not known.' })
    if (!apiKeyPattern.test(secret)) throw unknown()
    const rows = await deps.db.query<
      IdentityRow &
        GrantRow & {
          id: Uuid
          salt: Buffer
          hash: Buffer
          revoked_at: Date | null
          expires_at: Date | null
          last_used_at: Date | null
        }
    >(byApiKey, [apiKeyLookup(secret)])
    // The same work for an unknown prefix as for a wrong key of a known one.
    const row = rows.find((candidate) => equalBytes(hashApiKey(secret, candidate.salt), candidate.hash))
    if (rows.length === 0) hashApiKey(secret, Buffer.alloc(16))
    if (!row) throw unknown()
    const now = deps.clock.now()
    if (row.revoked_at && row.revoked_at <= now) throw new Refusal('api_key_revoked')
    if (row.expires_at && row.expires_at <= now) throw new Refusal('api_key_expired')
    // A grant ends with what stands above it, or with its last key: the key itself had no such end.
    if (row.grant_revoked_at || (row.grant_expires_at && row.grant_expires_at <= now)) throw new Refusal('api_key_revoked')
    const ends = earliest(row.expires_at, row.grant_expires_at, row.revoked_at)
    const principal = principalFrom(row, { kind: 'api_key', id: row.id }, ends, row, false)
    refuseForeignWorkspace(row.workspace_id, workspaceId)
    if (!row.last_used_at || now.getTime() - row.last_used_at.getTime() > touchAfterMs)
      await deps.db.query(touchApiKey, [row.id, now, row.grant_id])
    return principal
  }

export const resolveSession =
  (deps: ResolverDeps): Resolve =>
  async (token, workspaceId) => {
    const [row] = await deps.db.query<
      IdentityRow & { id: Uuid; expires_at: Date; revoked_at: Date | null; last_used_at: Date; is_admin: boolean }
    >(bySession, [sha256(token), deps.adminAccounts, workspaceId])
    if (!row) return refuseUnknown(resolveSession(deps), token, workspaceId, 'The session is not known.')
    if (row.revoked_at) throw new Refusal('session_revoked')
    const now = deps.clock.now()
    const idleEnd = daysAfter(row.last_used_at, deps.sessionIdleDays)
    if (row.expires_at <= now || idleEnd <= now) throw new Refusal('token_expired', { message: 'The session has expired.' })
    if (workspaceId !== null && row.role === null) throw notFound()
    if (now.getTime() - row.last_used_at.getTime() > touchAfterMs) await deps.db.query(touchSession, [row.id, now])
    return principalFrom(row, { kind: 'session', id: row.id }, row.expires_at, null, row.is_admin)
  }

const byDashboardToken = statement(
  'auth.dashboard_token',
  `select d.id, d.expires_at, ${isAdmin}, ${identityColumns},
     least(s.expires_at, s.last_used_at + make_interval(days => $4::int), k.expires_at, k.revoked_at) as parent_ends_at,
     s.revoked_at as session_revoked_at,
     d.oauth_token_id is not null as by_oauth,
     g.id as grant_id, g.ancestor_ids || g.id as lineage, g.revoked_at as grant_revoked_at, g.expires_at as grant_expires_at,
     case when d.oauth_token_id is null then g.permissions
       else array(select unnest(g.permissions) intersect select unnest(t.scopes)) end as granted,
     coalesce(g.frozen_at is not null or exists (select from grants x where x.id = any(g.ancestor_ids) and x.frozen_at is not null), false) as grant_frozen
   from dashboard_tokens d join accounts a on a.id = d.account_id
   left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id left join grants g on g.id = d.grant_id
   left join oauth_access_tokens t on t.id = d.oauth_token_id
   join workspaces w on w.id = case when d.grant_id is null then coalesce($3::uuid, d.workspace_id) else d.workspace_id end
   left join members m on m.workspace_id = w.id and m.account_id = a.id
   where d.token_hash = $1`,
)

/** Lives no longer than the session, key or access token that minted it, and carries exactly what that carried. */
const resolveDashboardToken =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId) => {
    const [row] = await deps.db.query<
      IdentityRow &
        Partial<GrantRow> & {
          id: Uuid
          expires_at: Date
          is_admin: boolean
          parent_ends_at: Date | null
          session_revoked_at: Date | null
          grant_id: Uuid | null
          by_oauth: boolean
        }
    >(byDashboardToken, [sha256(secret), deps.adminAccounts, workspaceId, deps.sessionIdleDays])
    if (!row) return refuseUnknown(resolveDashboardToken(deps), secret, workspaceId, 'The token is not known.')
    const now = deps.clock.now()
    if (row.session_revoked_at) throw new Refusal('session_revoked')
    const grant = row.grant_id ? (row as GrantRow) : null
    if (grant?.grant_revoked_at)
      throw new Refusal('invalid_token', { message: 'The credential that made this token was revoked.' })
    const ends = earliest(row.expires_at, row.parent_ends_at, grant?.grant_expires_at ?? null)
    if (ends && ends <= now) throw new Refusal('token_expired')
    if (row.by_oauth && !row.oauth_enabled) throw new Refusal('capability_disabled', { details: { capability: 'oauth' } })
    if (grant) refuseForeignWorkspace(row.workspace_id, workspaceId)
    else if (workspaceId !== null && row.role === null) throw notFound()
    return principalFrom(row, { kind: 'dashboard', id: row.id }, ends, grant, row.is_admin)
  }

export type BearerResolver = { prefix: string; resolve: Resolve }

/** Which resolver a bearer's prefix names. A credential that its resolver rejects never falls through to another. */
export const createBearerResolvers = (deps: ResolverDeps): BearerResolver[] => [
  { prefix: secretPrefixes.api_key, resolve: resolveApiKey(deps) },
  { prefix: secretPrefixes.dashboard_token, resolve: resolveDashboardToken(deps) },
]
