import { instantOf, isTrue, listOf, quoted, type Reader, readInstant, textOf } from '../db/records.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Role } from './permissions.ts'
import type { Principal } from './principal.ts'

/** What the lookup of every credential returns about its account and its workspace; `null` as in the column. */
export type IdentityRow = {
  accountId: Uuid
  accountStatus: Principal['accountStatus']
  capabilities: Principal['capabilities']
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
export const identityFields: readonly string[] = [
  'a.id',
  'a.status',
  'a.topups_enabled',
  'a.payments_enabled',
  'a.api_keys_enabled',
  'a.oauth_enabled',
  'w.id',
  'w.owning_account_id',
  'w.frozen_at is not null or w.suspended_at is not null',
  'w.closed_at is not null',
  'o.status',
  'w.kind',
  quoted('w.name'),
  'w.created_at',
  'w.time_zone',
  'w.next_time_zone',
  'w.next_time_zone_from',
  'm.role',
  'm.status',
  'm.id',
]

export const identityJoins = `join accounts o on o.id = w.owning_account_id left join members m on m.workspace_id = w.id and m.account_id = a.id`

export const readIdentity = (next: Reader): IdentityRow => ({
  accountId: next(),
  accountStatus: next() as Principal['accountStatus'],
  capabilities: { topups: isTrue(next()), payments: isTrue(next()), apiKeys: isTrue(next()), oauth: isTrue(next()) },
  workspaceId: next(),
  owningAccountId: next(),
  frozen: isTrue(next()),
  closed: isTrue(next()),
  ownerStatus: next() as Principal['accountStatus'],
  workspaceKind: next() as Principal['workspace']['kind'],
  workspaceName: JSON.parse(next()) as string,
  workspaceCreatedAt: readInstant(next),
  timeZone: next(),
  nextTimeZone: textOf(next()),
  nextTimeZoneFrom: instantOf(next()),
  role: textOf<Role>(next()),
  memberStatus: textOf<NonNullable<Principal['memberStatus']>>(next()),
  memberId: textOf<Uuid>(next()),
})

/** `granted`: the grant's permissions that this credential has. */
export const grantFields = (granted = 'g.permissions'): readonly string[] => [
  'g.id',
  'g.ancestor_ids || g.id',
  granted,
  'g.frozen_at is not null or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.frozen_at is not null)',
  'g.revoked_at',
  'g.expires_at',
  `g.kind = 'oauth' or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.kind = 'oauth')`,
]

/** Null when there is no grant. */
export const readGrant = (next: Reader): GrantRow | null => {
  const row = {
    grantId: next(),
    lineage: listOf(next()),
    granted: listOf(next()),
    grantFrozen: isTrue(next()),
    grantRevokedAt: instantOf(next()),
    grantExpiresAt: instantOf(next()),
    throughOauth: isTrue(next()),
  }
  return row.grantId === '' ? null : row
}
