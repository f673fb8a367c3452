import type { Uuid } from '../lib/ids.ts'
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
export const identityColumns = `a.id as "accountId", a.status as "accountStatus", a.topups_enabled as topups, a.payments_enabled as payments,
  a.api_keys_enabled as "apiKeys", a.oauth_enabled as oauth, w.id as "workspaceId", w.owning_account_id as "owningAccountId",
  w.frozen_at is not null or w.suspended_at is not null as frozen, w.closed_at is not null as closed, o.status as "ownerStatus",
  w.kind as "workspaceKind", w.name as "workspaceName", w.created_at as "workspaceCreatedAt", w.time_zone as "timeZone",
  w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom", m.role, m.status as "memberStatus", m.id as "memberId"`

export const identityJoins = `join accounts o on o.id = w.owning_account_id left join members m on m.workspace_id = w.id and m.account_id = a.id`

/** `granted`: the grant's permissions that this credential has. */
export const grantColumns = (
  granted = 'g.permissions',
): string => `g.id as "grantId", g.ancestor_ids || g.id as lineage, ${granted} as granted,
  g.frozen_at is not null or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.frozen_at is not null)
    as "grantFrozen",
  g.revoked_at as "grantRevokedAt", g.expires_at as "grantExpiresAt",
  g.kind = 'oauth' or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.kind = 'oauth')
    as "throughOauth"`
