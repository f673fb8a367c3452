import { sessionEnds } from '../db/credential-life.ts'
import { prepareText } from '../db/prepare.ts'
import type { Uuid } from '../lib/ids.ts'
import { isAdministratorSql } from './administrators.ts'
import type { Role } from './permissions.ts'
import type { Principal } from './principal.ts'

/** What the lookup of every credential returns about its account and its workspace; `null` as in the column. */
export type IdentityRow = {
  accountId: Uuid
  accountStatus: Principal['accountStatus']
  topups: boolean
  payments: boolean
  apiKeys: boolean
  oauth: boolean
  workspaceId: Uuid
  owningAccountId: Uuid
  frozen: boolean
  closed: boolean
  /** A workspace is stopped while the account whose money it spends is not active. */
  ownerStatus: Principal['accountStatus']
  workspaceKind: Principal['workspace']['kind']
  workspaceName: string
  workspaceCreatedAt: Date
  timeZone: string
  nextTimeZone: string | null
  nextTimeZoneFrom: Date | null
  role: Role | null
  memberStatus: Principal['memberStatus']
  memberId: Uuid | null
}

export type GrantRow = {
  grantId: Uuid
  lineage: Uuid[]
  granted: string[]
  grantFrozen: boolean
  grantRevokedAt: Date | null
  grantExpiresAt: Date | null
  /** Whether it, or a grant above it, was given to an OAuth client. */
  throughOauth: boolean
}

/** With `a` the account, `w` the workspace, `o` the account that owns it, `m` the membership. */
const identityColumns = `a.id as "accountId", a.status as "accountStatus", a.topups_enabled as topups, a.payments_enabled as payments,
  a.api_keys_enabled as "apiKeys", a.oauth_enabled as oauth, w.id as "workspaceId", w.owning_account_id as "owningAccountId",
  w.frozen_at is not null or w.suspended_at is not null as frozen, w.closed_at is not null as closed, o.status as "ownerStatus",
  w.kind as "workspaceKind", w.name as "workspaceName", w.created_at as "workspaceCreatedAt", w.time_zone as "timeZone",
  w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom", m.role, m.status as "memberStatus", m.id as "memberId"`

const identityJoins = `join accounts o on o.id = w.owning_account_id left join members m on m.workspace_id = w.id and m.account_id = a.id`

/** `granted`: the grant's permissions that this credential has. */
const grantColumns = (
  granted = 'g.permissions',
): string => `g.id as "grantId", g.ancestor_ids || g.id as lineage, ${granted} as granted,
  g.frozen_at is not null or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.frozen_at is not null)
    as "grantFrozen",
  g.revoked_at as "grantRevokedAt", g.expires_at as "grantExpiresAt",
  g.kind = 'oauth' or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.kind = 'oauth')
    as "throughOauth"`

// One statement for each kind of credential. The search value is a hash in hex, or the public first part of a key. In a transaction, whose
// credentials are read again behind the locks of their accounts, they are joined as well.

type Row = IdentityRow & { id: Uuid }
export type ApiKeyRow = Row &
  GrantRow & { salt: Buffer; hash: Buffer; revokedAt: Date | null; expiresAt: Date | null; lastUsedAt: Date | null }
type SessionRow = Row & {
  expiresAt: Date
  revokedAt: Date | null
  lastUsedAt: Date
  createdAt: Date
  provenAt: Date
  isAdmin: boolean
}
type AccessTokenRow = Row & GrantRow & { expiresAt: Date; lastUsedAt: Date | null; forThisApi: boolean }
type DashboardTokenRow = Row & {
  expiresAt: Date
  isAdmin: boolean
  parentEndsAt: Date | null
  /** Of the session that issued it. */
  sessionCreatedAt: Date | null
  provenAt: Date | null
  sessionRevokedAt: Date | null
  byOauth: boolean
} & (GrantRow | { [Name in keyof GrantRow]: null })

const isAdmin = `(${isAdministratorSql('key.admins')}) is true as "isAdmin"`
const lookup = <R extends object, const T extends Parameters<typeof prepareText>[1]>(name: string, types: T, text: string) =>
  prepareText<R, T>(name, types, text, 'record', { most: 128, inTx: true })

export const byApiKey = lookup<ApiKeyRow, { lookup: 'text' }>(
  'auth.api_keys',
  { lookup: 'text' },
  `select k.id, k.salt, k.hash, k.revoked_at as "revokedAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt", ${identityColumns},
     ${grantColumns()}
   from api_keys k join grants g on g.id = k.grant_id join accounts a on a.id = k.account_id
     join workspaces w on w.id = k.workspace_id ${identityJoins}
   where k.lookup = key.lookup offset 0`,
)

const ofPerson = { hash: 'text', workspace_id: 'uuid', admins: 'text[]' } as const
export const bySession = lookup<SessionRow, typeof ofPerson>(
  'auth.sessions',
  ofPerson,
  `select s.id, s.expires_at as "expiresAt", s.revoked_at as "revokedAt", s.last_used_at as "lastUsedAt", s.created_at as "createdAt",
     s.proven_at as "provenAt", ${isAdmin}, ${identityColumns}
   from sessions s join accounts a on a.id = s.account_id
     join workspaces w on w.id = coalesce(key.workspace_id, s.workspace_id) ${identityJoins}
   where s.token_hash = decode(key.hash, 'hex') offset 0`,
)

const ofToken = { hash: 'text', audience: 'text' } as const
/** `audience`: this API's name in a token's resources. A token has those of the grant's permissions that its scopes name. */
export const byAccessToken = lookup<AccessTokenRow, typeof ofToken>(
  'auth.access_tokens',
  ofToken,
  `select t.id, t.expires_at as "expiresAt", g.last_used_at as "lastUsedAt", key.audience = any(t.resources) as "forThisApi", ${identityColumns},
     ${grantColumns('array(select p from unnest(g.permissions) with ordinality as granted(p, place) where p = any(t.scopes) order by place)')}
   from oauth_access_tokens t join grants g on g.id = t.grant_id join accounts a on a.id = g.account_id
     join workspaces w on w.id = g.workspace_id ${identityJoins}
   where t.hash = decode(key.hash, 'hex') offset 0`,
)

const ofDashboard = { ...ofPerson, idle_days: 'int' } as const
export const byDashboardToken = lookup<DashboardTokenRow, typeof ofDashboard>(
  'auth.dashboard_tokens',
  ofDashboard,
  `select d.id, d.expires_at as "expiresAt", ${isAdmin}, least(${sessionEnds('s', 'key.idle_days')}, k.expires_at, k.revoked_at) as "parentEndsAt",
     s.created_at as "sessionCreatedAt", s.proven_at as "provenAt", s.revoked_at as "sessionRevokedAt", d.oauth_token_id is not null as "byOauth",
     ${identityColumns},
     ${grantColumns('case when d.oauth_token_id is null then g.permissions else array(select unnest(g.permissions) intersect select unnest(t.scopes)) end')}
   from dashboard_tokens d join accounts a on a.id = d.account_id
     left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id left join grants g on g.id = d.grant_id
     left join oauth_access_tokens t on t.id = d.oauth_token_id
     join workspaces w on w.id = case when d.grant_id is null then coalesce(key.workspace_id, d.workspace_id) else d.workspace_id end
     ${identityJoins}
   where d.token_hash = decode(key.hash, 'hex') offset 0`,
)
