import { type Db, first, type Tx } from '../db/client.ts'
import { type Ends, grantLife, keyLife, sessionLife } from '../db/credential-life.ts'
import { type Clock, secondsAfter } from '../lib/clock.ts'
import { notFound, Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import type { LastUsed } from './last-used.ts'
import {
  type ApiKeyRow,
  byAccessToken,
  byApiKey,
  byDashboardToken,
  bySession,
  type GrantRow,
  type IdentityRow,
} from './lookups.ts'
import { effectivePermissions } from './permissions.ts'
import type { Authenticated, Principal } from './principal.ts'
import { apiKeyLookup, apiKeyPattern, equalBytes, hashApiKey, secretPrefixes, sha256Hex } from './secrets.ts'

/** `audience`: this API's name in an access token's resources. */
type ResolverDeps = {
  db: Db
  lastUsed: LastUsed
  clock: Clock
  /** As `administratorNames` gives them. */
  admins: readonly string[]
  sessionIdleDays: number
  audience: string
}

/**
 * `workspaceId`: the workspace that an un-delegated caller names for this request (header `Workspace-Id`). `tx`: a writer's transaction, in
 * which the credential is checked once more under the locks.
 */
export type Resolve = (secret: string, workspaceId: Uuid | null, tx?: Tx) => Promise<Authenticated>

export type BearerResolver = { prefix: string; resolve: Resolve }

/** An administrator signs in again every day: a session that is left open somewhere does not keep that right. */
const administratorsSessionHours = 12
const endOfAdministrators = (isAdmin: boolean, sessionCreatedAt: Date | null): Date | null =>
  isAdmin && sessionCreatedAt ? secondsAfter(sessionCreatedAt, administratorsSessionHours * 3600) : null

const principalOf = (
  row: IdentityRow & { isAdmin?: boolean; provenAt?: Date | null },
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
      frozen: row.frozen || row.ownerStatus === 'frozen',
      closed: row.closed || row.ownerStatus === 'closed',
      zone: { timeZone: row.timeZone, nextTimeZone: row.nextTimeZone, nextFrom: row.nextTimeZoneFrom },
      kind: row.workspaceKind,
      name: row.workspaceName,
      createdAt: row.workspaceCreatedAt,
    },
    role: row.role,
    memberId: row.memberId,
    memberStatus: row.memberStatus,
    permissions: effectivePermissions(suspended ? null : row.role, grant ? grant.granted : null),
    grant: grant ? { id: grant.grantId, lineage: grant.lineage, frozen: grant.grantFrozen } : null,
    isAdmin: row.isAdmin === true && !grant,
    credential,
    provenAt: (grant ? null : row.provenAt) ?? null,
    expiresAt,
  }
}

/** A grant is bound to its workspace: naming another one is refused, naming its own changes nothing. */
const refuseForeignWorkspace = (bound: Uuid, named: Uuid | null): void => {
  if (named !== null && named !== bound)
    throw new Refusal('forbidden', { message: 'This credential is bound to another workspace.' })
}

/**
 * No row: the secret is unknown; or it is valid and the named workspace is not the caller's, which gives the same 404 as one that does not
 * exist.
 */
const refuseUnknown = async (resolve: Resolve, secret: string, workspaceId: Uuid | null, message: string): Promise<never> => {
  if (workspaceId === null) throw new Refusal('invalid_token', { message })
  await resolve(secret, null)
  throw notFound('Workspace-Id')
}

const disabled = (capability: string): Refusal => new Refusal('capability_disabled', { details: { capability } })

/** A disabled capability stops what it names: `api_keys` every key, `oauth` every token and every key made through one. */
const refuseDisabled = ({ apiKeys, oauth }: IdentityRow, { throughOauth }: GrantRow, isKey: boolean): void => {
  if (isKey && !apiKeys) throw disabled('api_keys')
  if (throughOauth && !oauth) throw disabled('oauth')
}

const earliest = (...times: (Date | null)[]): Date | null =>
  times.reduce((first, time) => (time && (!first || time < first) ? time : first), null)

const grantEndsOf = ({ grantRevokedAt, grantExpiresAt }: Pick<GrantRow, 'grantRevokedAt' | 'grantExpiresAt'>): Ends => ({
  revokedAt: grantRevokedAt,
  expiresAt: grantExpiresAt,
})

/** The key of what a person uses: the secret, and the workspace that the request names. */
const keyOf = ({ admins }: ResolverDeps, secret: string, workspaceId: Uuid | null) => ({
  hash: sha256Hex(secret),
  workspace_id: workspaceId,
  admins,
})

const noSalt = Buffer.alloc(16)

/** The same work for an unknown prefix as for a wrong key with a known one. */
const matching = (rows: readonly ApiKeyRow[], secret: string): ApiKeyRow => {
  const row = rows.find((candidate) => equalBytes(hashApiKey(secret, candidate.salt), candidate.hash))
  if (rows.length === 0) hashApiKey(secret, noSalt)
  if (!row) throw new Refusal('invalid_token', { message: 'The API key is not known.' })
  return row
}

const resolveApiKey =
  ({ db, lastUsed, clock }: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    if (!apiKeyPattern.test(secret)) throw new Refusal('invalid_token', { message: 'The API key is not known.' })
    const row = matching(await (tx ?? db).run(byApiKey, { lookup: apiKeyLookup(secret) }), secret)
    const now = tx?.at ?? clock.now()
    const life = keyLife(row, now)
    if (life !== 'active') throw new Refusal(life === 'revoked' ? 'api_key_revoked' : 'api_key_expired')
    // A grant ends with the grants above it, or with its last key. This grant ended although the key itself did not.
    if (grantLife(grantEndsOf(row), now) !== 'active') throw new Refusal('api_key_revoked')
    refuseDisabled(row, row, true)
    const ends = earliest(row.expiresAt, row.grantExpiresAt, row.revokedAt)
    const principal = principalOf(row, { kind: 'api_key', id: row.id }, ends, row)
    refuseForeignWorkspace(row.workspaceId, workspaceId)
    lastUsed.note('api_keys', row.id, now, row.lastUsedAt)
    lastUsed.note('grants', row.grantId, now, row.lastUsedAt)
    return principal
  }

const resolveSession =
  (deps: ResolverDeps): Resolve =>
  async (token, workspaceId, tx) => {
    const row = await first(tx ?? deps.db, bySession, keyOf(deps, token, workspaceId))
    if (!row) return refuseUnknown(resolveSession(deps), token, workspaceId, 'The session is not known.')
    const now = tx?.at ?? deps.clock.now()
    const lastUsedAt = deps.lastUsed.latest('sessions', row.id, row.lastUsedAt)
    const expiresAt = earliest(row.expiresAt, endOfAdministrators(row.isAdmin, row.createdAt)) ?? row.expiresAt
    const life = sessionLife({ ...row, expiresAt, lastUsedAt }, now, deps.sessionIdleDays)
    if (life === 'revoked') throw new Refusal('session_revoked')
    if (life === 'expired') throw new Refusal('token_expired', { message: 'The session has expired.' })
    if (workspaceId !== null && row.role === null) throw notFound('Workspace-Id')
    deps.lastUsed.note('sessions', row.id, now, row.lastUsedAt)
    return principalOf(row, { kind: 'session', id: row.id }, expiresAt, null)
  }

/**
 * An OAuth access token. The grant is checked on every request, so that a revocation applies to the next one; a token that was issued for
 * another API counts as unknown here.
 */
const resolveAccessToken =
  ({ db, lastUsed, clock, audience }: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    const row = await first(tx ?? db, byAccessToken, { hash: sha256Hex(secret), audience })
    if (!row) throw new Refusal('invalid_token', { message: 'The access token is not known.' })
    const now = tx?.at ?? clock.now()
    const life = grantLife(grantEndsOf(row), now)
    if (life === 'revoked') throw new Refusal('invalid_token', { message: 'The access token was revoked.' })
    if (life === 'expired' || row.expiresAt <= now) throw new Refusal('token_expired')
    if (!row.forThisApi) throw new Refusal('invalid_token', { message: 'The access token is for another resource.' })
    refuseDisabled(row, row, false)
    refuseForeignWorkspace(row.workspaceId, workspaceId)
    lastUsed.note('grants', row.grantId, now, row.lastUsedAt)
    return principalOf(row, { kind: 'oauth', id: row.id }, row.expiresAt, row)
  }

/** Ends with the session, key or access token that issued it at the latest, and has exactly the rights of that credential. */
const resolveDashboardToken =
  (deps: ResolverDeps): Resolve =>
  async (secret, workspaceId, tx) => {
    const key = { ...keyOf(deps, secret, workspaceId), idle_days: deps.sessionIdleDays }
    const row = await first(tx ?? deps.db, byDashboardToken, key)
    if (!row) return refuseUnknown(resolveDashboardToken(deps), secret, workspaceId, 'The token is not known.')
    const now = tx?.at ?? deps.clock.now()
    const grant = row.grantId === null ? null : row
    if (row.sessionRevokedAt) throw new Refusal('session_revoked')
    if (grant?.grantRevokedAt) throw new Refusal('invalid_token', { message: 'The credential that made this token was revoked.' })
    const ofSession = endOfAdministrators(row.isAdmin && !grant, row.sessionCreatedAt)
    const ends = earliest(row.expiresAt, row.parentEndsAt, ofSession, grant?.grantExpiresAt ?? null)
    if (ends && ends <= now) throw new Refusal('token_expired')
    if (grant) refuseDisabled(row, grant, !row.byOauth)
    if (grant) refuseForeignWorkspace(row.workspaceId, workspaceId)
    else if (workspaceId !== null && row.role === null) throw notFound('Workspace-Id')
    return principalOf(row, { kind: 'dashboard', id: row.id }, ends, grant)
  }

/** The resolver for each prefix of a bearer, and for the session cookie. A rejected credential never falls through to another. */
export const createResolvers = (deps: ResolverDeps): { bearers: BearerResolver[]; session: Resolve } => ({
  bearers: [
    { prefix: secretPrefixes.api_key, resolve: resolveApiKey(deps) },
    { prefix: secretPrefixes.access_token, resolve: resolveAccessToken(deps) },
    { prefix: secretPrefixes.dashboard_token, resolve: resolveDashboardToken(deps) },
  ],
  session: resolveSession(deps),
})
