import { type Db, first, type Tx } from '../db/client.ts'
import { type Ends, grantLife, keyLife, type SessionTimes, sessionEnd, sessionEnds, sessionLife } from '../db/credential-life.ts'
import { type KeyTypes, prepareText } from '../db/prepare.ts'
import { balanceAccountSql } from '../db/tables/workspaces.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound, Refusal, writesMayBeLost } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { isAdministratorSql, sessionExpiry } from './administrators.ts'
import { grantIsFrozen, linkerOf } from './authority-sql.ts'
import type { LastUsed } from './last-used.ts'
import { effectivePermissions } from './permissions.ts'
import { type Authenticated, type Principal, proofOf } from './principal.ts'
import { apiKeyLookup, apiKeyPattern, equalBytes, hashApiKey, secretPrefixes, sha256Hex } from './secrets.ts'

type CallerRow = Pick<Principal, 'accountId' | 'accountStatus' | 'role' | 'memberStatus' | 'memberId'> &
  Principal['capabilities'] &
  Omit<Principal['workspace'], 'id' | 'kind' | 'name' | 'createdAt'> & {
    workspaceId: Uuid
    /** The workspace is stopped unless the account that holds its balance is active. */
    holderStatus: Principal['accountStatus']
    workspaceKind: Principal['workspace']['kind']
    workspaceName: string
    workspaceCreatedAt: Date
  }

type GrantRow = {
  grantId: Uuid
  lineage: Uuid[]
  granted: string[]
  grantFrozen: boolean
  grantRevokedAt: Date | null
  grantExpiresAt: Date | null
  /** Whether this grant or an ancestor was given to an OAuth client. */
  throughOauth: boolean
}

/** Aliases: `a` is the account, `w` the workspace, `h` the account that holds its balance, `m` the membership. */
const callerColumns = `a.id as "accountId", a.status as "accountStatus", a.topups_enabled as topups, a.payments_enabled as payments,
  a.api_keys_enabled as "apiKeys", a.oauth_enabled as oauth, w.id as "workspaceId", w.owning_account_id as "owningAccountId",
  h.id as "balanceAccountId", w.separated_at is not null as "isSeparated",
  w.frozen_at is not null or w.suspended_at is not null as frozen, w.closed_at is not null as closed, h.status as "holderStatus",
  w.kind as "workspaceKind", w.name as "workspaceName", w.created_at as "workspaceCreatedAt", w.time_zone as "timeZone",
  w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom", m.role, m.status as "memberStatus", m.id as "memberId"`

const callerJoins = `join accounts h on h.id = ${balanceAccountSql('w')}
  left join members m on m.workspace_id = w.id and m.account_id = a.id`

const grantColumns = (
  granted = 'g.permissions',
): string => `g.id as "grantId", g.ancestor_ids || g.id as lineage, ${granted} as granted,
  ${grantIsFrozen('g')} as "grantFrozen",
  g.revoked_at as "grantRevokedAt", g.expires_at as "grantExpiresAt",
  g.kind = 'oauth' or cardinality(g.ancestor_ids) > 0 and exists (select from grants x where x.id = any(g.ancestor_ids) and x.kind = 'oauth')
    as "throughOauth"`

// One query per kind of credential, by its hash in hex or a key's lookup digits. Transactions also coalesce these queries.

type CredentialRow = CallerRow & { id: Uuid }
type ApiKeyRow = CredentialRow & GrantRow & Ends & { salt: Buffer; hash: Buffer; lastUsedAt: Date | null }
type SessionOwnerRow = { isAdmin: boolean; sessionId: Uuid | null; linkedByGrantId: Uuid | null; linkerFrozen: boolean | null }
type AccessTokenRow = CredentialRow & GrantRow & { expiresAt: Date; lastUsedAt: Date | null; forThisApi: boolean }
type DashboardTokenRow = CredentialRow &
  SessionOwnerRow & {
    expiresAt: Date
    parentEndsAt: Date | null
    sessionCreatedAt: Date | null
    provenAt: Date | null
    sessionRevokedAt: Date | null
    byOauth: boolean
  } & (GrantRow | { [Name in keyof GrantRow]: null })

const personColumns = `(${isAdministratorSql('key.admins')}) is true as "isAdmin", s.id as "sessionId",
  (select ${linkerOf('i')} from identities i where i.id = s.identity_id) as "linkedByGrantId",
  (select ${grantIsFrozen('x')} from identities i join grants x on x.id = i.linked_by_grant_id where i.id = s.identity_id) as "linkerFrozen"`
const lookup =
  <Row extends object>() =>
  <const T extends KeyTypes>(name: string, types: T, text: string) =>
    prepareText<Row>()(name, types, text, 'record', { maxSets: 128, inTx: true })

const byApiKey = lookup<ApiKeyRow>()(
  'auth.api_keys',
  { lookup: 'text' },
  `select k.id, k.salt, k.hash, k.revoked_at as "revokedAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt", ${callerColumns},
     ${grantColumns()}
   from api_keys k join grants g on g.id = k.grant_id join accounts a on a.id = k.account_id
     join workspaces w on w.id = k.workspace_id ${callerJoins}
   where k.lookup = key.lookup offset 0`,
)

const personParameters = { hash: 'text', workspace_id: 'uuid', admins: 'text[]' } as const
const bySession = lookup<CredentialRow & SessionOwnerRow & SessionTimes & { createdAt: Date; provenAt: Date }>()(
  'auth.sessions',
  personParameters,
  `select s.id, s.expires_at as "expiresAt", s.revoked_at as "revokedAt", s.last_used_at as "lastUsedAt", s.created_at as "createdAt",
     s.proven_at as "provenAt", ${personColumns}, ${callerColumns}
   from sessions s join accounts a on a.id = s.account_id
     join workspaces w on w.id = coalesce(key.workspace_id, s.workspace_id) ${callerJoins}
   where s.token_hash = decode(key.hash, 'hex') offset 0`,
)

/** A token has those permissions of the grant that its scopes name. */
const byAccessToken = lookup<AccessTokenRow>()(
  'auth.access_tokens',
  { hash: 'text', audience: 'text' },
  `select t.id, t.expires_at as "expiresAt", g.last_used_at as "lastUsedAt", key.audience = any(t.resources) as "forThisApi", ${callerColumns},
     ${grantColumns('array(select p from unnest(g.permissions) with ordinality as granted(p, place) where p = any(t.scopes) order by place)')}
   from oauth_access_tokens t join grants g on g.id = t.grant_id join accounts a on a.id = g.account_id
     join workspaces w on w.id = g.workspace_id ${callerJoins}
   where t.hash = decode(key.hash, 'hex') offset 0`,
)

const byDashboardToken = lookup<DashboardTokenRow>()(
  'auth.dashboard_tokens',
  { ...personParameters, idle_days: 'int' },
  `select d.id, d.expires_at as "expiresAt", ${personColumns}, least(${sessionEnds('s', 'key.idle_days')}, k.expires_at, k.revoked_at) as "parentEndsAt",
     s.created_at as "sessionCreatedAt", s.proven_at as "provenAt", s.revoked_at as "sessionRevokedAt", d.oauth_token_id is not null as "byOauth",
     ${callerColumns},
     ${grantColumns('case when d.oauth_token_id is null then g.permissions else array(select unnest(g.permissions) intersect select unnest(t.scopes)) end')}
   from dashboard_tokens d join accounts a on a.id = d.account_id
     left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id left join grants g on g.id = d.grant_id
     left join oauth_access_tokens t on t.id = d.oauth_token_id
     join workspaces w on w.id = case when d.grant_id is null then coalesce(key.workspace_id, d.workspace_id) else d.workspace_id end
     ${callerJoins}
   where d.token_hash = decode(key.hash, 'hex') offset 0`,
)

type ResolverDeps = {
  db: Db
  lastUsed: LastUsed
  clock: Clock
  admins: readonly string[]
  sessionIdleDays: number
  audience: string
  /** True until lost writes are investigated, because an unknown credential may be among them. */
  mayHaveLost: () => boolean
}

const unknownCredential = ({ mayHaveLost }: ResolverDeps, what: string): Refusal =>
  mayHaveLost()
    ? writesMayBeLost(`writes, and ${what} may be among them`)
    : new Refusal('invalid_token', { message: `The ${what} is not known.` })

/** `workspaceId`: from the header `Workspace-Id`. `tx`: set by a write that checks the credential again under its locks. */
export type Resolve = (secret: string, workspaceId: Uuid | null, tx?: Tx) => Promise<Authenticated>

export type BearerResolver = { prefix: string; resolve: Resolve }

const principalOf = (
  row: CallerRow & Partial<SessionOwnerRow> & { provenAt?: Date | null },
  credential: Principal['credential'],
  expiresAt: Date | null,
  grant: GrantRow | null,
): Authenticated => {
  if (row.accountStatus === 'closed') throw new Refusal('invalid_token', { message: 'The account is closed.' })
  const suspended = row.memberStatus === 'suspended'
  return {
    accountId: row.accountId,
    accountStatus: row.accountStatus,
    capabilities: { topups: row.topups, payments: row.payments, apiKeys: row.apiKeys, oauth: row.oauth },
    workspace: {
      id: row.workspaceId,
      owningAccountId: row.owningAccountId,
      balanceAccountId: row.balanceAccountId,
      isSeparated: row.isSeparated,
      frozen: row.frozen || row.holderStatus === 'frozen',
      closed: row.closed || row.holderStatus === 'closed',
      timeZone: row.timeZone,
      nextTimeZone: row.nextTimeZone,
      nextTimeZoneFrom: row.nextTimeZoneFrom,
      kind: row.workspaceKind,
      name: row.workspaceName,
      createdAt: row.workspaceCreatedAt,
    },
    role: row.role,
    memberId: row.memberId,
    memberStatus: row.memberStatus,
    permissions: effectivePermissions(suspended ? null : row.role, grant ? grant.granted : null),
    grant: grant ? { id: grant.grantId, lineage: grant.lineage } : null,
    // A sign-in method that a grant linked gives no administrator rights, because a grant gives none.
    isAdmin: row.isAdmin === true && !grant && !row.linkedByGrantId,
    credential,
    proof: proofOf(credential.kind, grant !== null, row.provenAt ?? null),
    provenAt: (grant ? null : row.provenAt) ?? null,
    originSessionId: row.sessionId ?? null,
    originGrantId: (grant ? grant.grantId : row.linkedByGrantId) ?? null,
    grantFrozen: (grant ? grant.grantFrozen : row.linkerFrozen) ?? false,
    expiresAt,
  }
}

/** Refuses a request that names another workspace than the one to which its grant is bound. */
const refuseForeignWorkspace = (bound: Uuid, named: Uuid | null): void => {
  if (named !== null && named !== bound) throw notFound('Workspace-Id')
}

/** If the secret is known, the workspace is not the caller's, and the answer is the same 404 as for a missing workspace. */
const refuseUnknown = async (
  deps: ResolverDeps,
  resolve: Resolve,
  secret: string,
  workspaceId: Uuid | null,
  what: string,
): Promise<never> => {
  if (workspaceId === null) throw unknownCredential(deps, what)
  await resolve(secret, null)
  throw notFound('Workspace-Id')
}

/** Disabling `api_keys` stops every key. Disabling `oauth` stops every token and every key created through one. */
const refuseDisabled = ({ apiKeys, oauth }: CallerRow, { throughOauth }: GrantRow, isKey: boolean): void => {
  const capability = isKey && !apiKeys ? 'api_keys' : throughOauth && !oauth ? 'oauth' : null
  if (capability) throw new Refusal('capability_disabled', { details: { capability } })
}

const earliest = (...times: (Date | null)[]): Date | null =>
  times.reduce((first, time) => (time && (!first || time < first) ? time : first), null)

const lifeOfGrant = ({ grantRevokedAt: revokedAt, grantExpiresAt: expiresAt }: GrantRow, now: Date) =>
  grantLife({ revokedAt, expiresAt }, now)

const lookupParameters = ({ admins }: ResolverDeps, secret: string, workspaceId: Uuid | null) => ({
  hash: sha256Hex(secret),
  workspace_id: workspaceId,
  admins,
})

const noSalt = Buffer.alloc(16)

/** Takes as long for an unknown prefix as for a wrong key with a known prefix, so that timing reveals no prefix. */
const verifiedKey = (deps: ResolverDeps, rows: readonly ApiKeyRow[], secret: string): ApiKeyRow => {
  const row = rows.find((candidate) => equalBytes(hashApiKey(secret, candidate.salt), candidate.hash))
  if (rows.length === 0) {
    hashApiKey(secret, noSalt)
    throw unknownCredential(deps, 'API key')
  }
  if (!row) throw new Refusal('invalid_token', { message: 'The API key is not known.' })
  return row
}

const resolveApiKey =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    const { db, lastUsed, clock } = deps
    if (!apiKeyPattern.test(secret)) throw new Refusal('invalid_token', { message: 'The API key is not known.' })
    const row = verifiedKey(deps, await (tx ?? db).run(byApiKey, { lookup: apiKeyLookup(secret) }), secret)
    const now = tx?.at ?? clock.now()
    const life = keyLife(row, now)
    if (life !== 'active') throw new Refusal(life === 'revoked' ? 'api_key_revoked' : 'api_key_expired')
    // A grant ends with any ancestor or with its last key, so the grant can end although this key did not.
    if (lifeOfGrant(row, now) !== 'active') throw new Refusal('api_key_revoked')
    refuseDisabled(row, row, true)
    const ends = earliest(row.expiresAt, row.grantExpiresAt, row.revokedAt)
    const principal = principalOf(row, { kind: 'api_key', id: row.id }, ends, row)
    refuseForeignWorkspace(row.workspaceId, workspaceId)
    lastUsed.record('api_keys', row.id, now, row.lastUsedAt)
    lastUsed.record('grants', row.grantId, now, row.lastUsedAt)
    return principal
  }

const resolveSession =
  (deps: ResolverDeps): Resolve =>
  async (token, workspaceId, tx) => {
    const row = await first(tx ?? deps.db, bySession, lookupParameters(deps, token, workspaceId))
    if (!row) return refuseUnknown(deps, resolveSession(deps), token, workspaceId, 'session')
    const now = tx?.at ?? deps.clock.now()
    const lastUsedAt = deps.lastUsed.latest(row.id, row.lastUsedAt)
    const times = { ...row, expiresAt: sessionExpiry(row, row.isAdmin), lastUsedAt }
    const life = sessionLife(times, now, deps.sessionIdleDays)
    if (life === 'revoked') throw new Refusal('session_revoked')
    if (life === 'expired') throw new Refusal('token_expired', { message: 'The session has expired.' })
    if (workspaceId !== null && row.role === null) throw notFound('Workspace-Id')
    deps.lastUsed.record('sessions', row.id, now, row.lastUsedAt)
    return principalOf(row, { kind: 'session', id: row.id }, sessionEnd(times, deps.sessionIdleDays), null)
  }

/** A token issued for another API is treated as unknown. */
const resolveAccessToken =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    const { db, lastUsed, clock, audience } = deps
    const row = await first(tx ?? db, byAccessToken, { hash: sha256Hex(secret), audience })
    if (!row) throw unknownCredential(deps, 'access token')
    const now = tx?.at ?? clock.now()
    const life = lifeOfGrant(row, now)
    if (life === 'revoked') throw new Refusal('invalid_token', { message: 'The access token was revoked.' })
    if (life === 'expired' || row.expiresAt <= now) throw new Refusal('token_expired')
    if (!row.forThisApi) throw new Refusal('invalid_token', { message: 'The access token is for another resource.' })
    refuseDisabled(row, row, false)
    refuseForeignWorkspace(row.workspaceId, workspaceId)
    lastUsed.record('grants', row.grantId, now, row.lastUsedAt)
    return principalOf(row, { kind: 'oauth', id: row.id }, row.expiresAt, row)
  }

/** Has exactly the rights of the session, key or access token that issued it, and ends no later. */
const resolveDashboardToken =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    const key = { ...lookupParameters(deps, secret, workspaceId), idle_days: deps.sessionIdleDays }
    const row = await first(tx ?? deps.db, byDashboardToken, key)
    if (!row) return refuseUnknown(deps, resolveDashboardToken(deps), secret, workspaceId, 'token')
    const now = tx?.at ?? deps.clock.now()
    const grant = row.grantId === null ? null : row
    if (row.sessionRevokedAt) throw new Refusal('session_revoked')
    if (grant?.grantRevokedAt) throw new Refusal('invalid_token', { message: 'The credential that made this token was revoked.' })
    const { sessionCreatedAt: createdAt, expiresAt } = row
    const ofSession = createdAt && sessionExpiry({ createdAt, expiresAt }, row.isAdmin && !grant)
    const ends = earliest(row.expiresAt, row.parentEndsAt, ofSession, grant?.grantExpiresAt ?? null)
    if (ends && ends <= now) throw new Refusal('token_expired')
    if (grant) refuseDisabled(row, grant, !row.byOauth)
    if (grant) refuseForeignWorkspace(row.workspaceId, workspaceId)
    else if (workspaceId !== null && row.role === null) throw notFound('Workspace-Id')
    return principalOf(row, { kind: 'dashboard', id: row.id }, ends, grant)
  }

/** Each credential is tried with one resolver only, even if it is rejected. */
export const createResolvers = (deps: ResolverDeps): { bearers: BearerResolver[]; session: Resolve } => ({
  bearers: [
    { prefix: secretPrefixes.api_key, resolve: resolveApiKey(deps) },
    { prefix: secretPrefixes.access_token, resolve: resolveAccessToken(deps) },
    { prefix: secretPrefixes.dashboard_token, resolve: resolveDashboardToken(deps) },
  ],
  session: resolveSession(deps),
})
