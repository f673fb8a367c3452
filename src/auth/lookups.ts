import type { Tx } from '../db/client.ts'
import { sessionEnds } from '../db/credential-life.ts'
import { joinedRecords } from '../db/join-turn.ts'
import { instantOf, isTrue, listOf, readInstant, recordReader, recordsStatement } from '../db/records.ts'
import type { Query } from '../db/statement.ts'
import type { Uuid } from '../lib/ids.ts'
import { isAdministratorSql } from './administrators.ts'
import { type GrantRow, grantFields, type IdentityRow, identityFields, identityJoins, readGrant, readIdentity } from './rows.ts'

// One statement for each kind of credential. The search value is a hash in hex, or the public first part of a key.

type Row = IdentityRow & { id: Uuid }
export type ApiKeyRow = Row &
  GrantRow & { salt: Buffer; hash: Buffer; revokedAt: Date | null; expiresAt: Date | null; lastUsedAt: Date | null }
export type SessionRow = Row & {
  expiresAt: Date
  revokedAt: Date | null
  lastUsedAt: Date
  createdAt: Date
  provenAt: Date
  isAdmin: boolean
}
export type AccessTokenRow = Row & GrantRow & { expiresAt: Date; lastUsedAt: Date | null; forThisApi: boolean }
export type DashboardTokenRow = Row & {
  expiresAt: Date
  isAdmin: boolean
  parentEndsAt: Date | null
  /** Of the session that issued it. */
  sessionCreatedAt: Date | null
  provenAt: Date | null
  sessionRevokedAt: Date | null
  byOauth: boolean
  grant: GrantRow | null
}

/** A secret's hash, and the workspace that the request names. */
export type HashKey = { hash: string; workspaceId: Uuid | null }

export type CredentialLookups = {
  /** More than one row where the first digits of keys are the same. */
  apiKeys: (lookup: string) => Promise<readonly ApiKeyRow[]>
  session: (key: HashKey) => Promise<SessionRow | undefined>
  accessToken: (hash: string) => Promise<AccessTokenRow | undefined>
  dashboardToken: (key: HashKey) => Promise<DashboardTokenRow | undefined>
}

const isAdmin = isAdministratorSql('$3')

const byApiKey = recordsStatement(
  'auth.api_keys',
  { lookup: 'text' },
  [
    'k.id',
    `encode(k.salt, 'hex')`,
    `encode(k.hash, 'hex')`,
    'k.revoked_at',
    'k.expires_at',
    'k.last_used_at',
    ...identityFields,
    ...grantFields(),
  ],
  {
    tables: `api_keys k join grants g on g.id = k.grant_id join accounts a on a.id = k.account_id
       join workspaces w on w.id = k.workspace_id ${identityJoins}`,
    where: 'k.lookup = key.lookup',
  },
)

const bySession = recordsStatement(
  'auth.sessions',
  { hash: 'text', workspace_id: 'uuid' },
  ['s.id', 's.expires_at', 's.revoked_at', 's.last_used_at', 's.created_at', 's.proven_at', isAdmin, ...identityFields],
  {
    tables: `sessions s join accounts a on a.id = s.account_id
       join workspaces w on w.id = coalesce(key.workspace_id, s.workspace_id) ${identityJoins}`,
    where: `s.token_hash = decode(key.hash, 'hex')`,
  },
)

const byAccessToken = recordsStatement(
  'auth.access_tokens',
  { hash: 'text' },
  ['t.id', 't.expires_at', 'g.last_used_at', '$2::text = any(t.resources)', 't.scopes', ...identityFields, ...grantFields()],
  {
    tables: `oauth_access_tokens t join grants g on g.id = t.grant_id join accounts a on a.id = g.account_id
       join workspaces w on w.id = g.workspace_id ${identityJoins}`,
    where: `t.hash = decode(key.hash, 'hex')`,
  },
)

const byDashboardToken = recordsStatement(
  'auth.dashboard_tokens',
  { hash: 'text', workspace_id: 'uuid' },
  [
    'd.id',
    'd.expires_at',
    isAdmin,
    `least(${sessionEnds('s', '$4')}, k.expires_at, k.revoked_at)`,
    's.created_at',
    's.proven_at',
    's.revoked_at',
    'd.oauth_token_id is not null',
    ...identityFields,
    ...grantFields(
      `case when d.oauth_token_id is null then g.permissions else array(select unnest(g.permissions) intersect select unnest(t.scopes)) end`,
    ),
  ],
  {
    tables: `dashboard_tokens d join accounts a on a.id = d.account_id
       left join sessions s on s.id = d.session_id left join api_keys k on k.id = d.api_key_id left join grants g on g.id = d.grant_id
       left join oauth_access_tokens t on t.id = d.oauth_token_id
       join workspaces w on w.id = case when d.grant_id is null then coalesce(key.workspace_id, d.workspace_id) else d.workspace_id end
       ${identityJoins}`,
    where: `d.token_hash = decode(key.hash, 'hex')`,
  },
)

const requireGrant = (grant: GrantRow | null): GrantRow => {
  if (!grant) throw new Error('a credential that carries a grant has none')
  return grant
}

// Of shared rows: the second lookup of a credential, in a transaction, reads the same text.

const readApiKey = recordReader(
  (next): ApiKeyRow => ({
    id: next(),
    salt: Buffer.from(next(), 'hex'),
    hash: Buffer.from(next(), 'hex'),
    revokedAt: instantOf(next()),
    expiresAt: instantOf(next()),
    lastUsedAt: instantOf(next()),
    ...readIdentity(next),
    ...requireGrant(readGrant(next)),
  }),
)

const readSession = recordReader(
  (next): SessionRow => ({
    id: next(),
    expiresAt: readInstant(next),
    revokedAt: instantOf(next()),
    lastUsedAt: readInstant(next),
    createdAt: readInstant(next),
    provenAt: readInstant(next),
    isAdmin: isTrue(next()),
    ...readIdentity(next),
  }),
)

/** A token has those of the grant's permissions that its scopes name. */
const readAccessToken = recordReader((next): AccessTokenRow => {
  const token = { id: next(), expiresAt: readInstant(next), lastUsedAt: instantOf(next()), forThisApi: isTrue(next()) }
  const scopes = new Set(listOf(next()))
  const identity = readIdentity(next)
  const grant = requireGrant(readGrant(next))
  return { ...token, ...identity, ...grant, granted: grant.granted.filter((permission) => scopes.has(permission)) }
})

const readDashboardToken = recordReader(
  (next): DashboardTokenRow => ({
    id: next(),
    expiresAt: readInstant(next),
    isAdmin: isTrue(next()),
    parentEndsAt: instantOf(next()),
    sessionCreatedAt: instantOf(next()),
    provenAt: instantOf(next()),
    sessionRevokedAt: instantOf(next()),
    byOauth: isTrue(next()),
    ...readIdentity(next),
    grant: readGrant(next),
  }),
)

/** Hex digits and ids need no quotes: the driver's own array format examines every character. */
const array = (items: readonly (string | null)[]): string => `{${items.map((item) => item ?? 'NULL').join(',')}}`

const hashes = (keys: readonly HashKey[]) => [
  array(keys.map(({ hash }) => hash)),
  array(keys.map(({ workspaceId }) => workspaceId)),
]

/** `audience`: this API's name in an access token's resources. */
export type LookupOptions = { adminAccounts: readonly string[]; sessionIdleDays: number; audience: string }

const createCredentialLookups = (query: Query, options: LookupOptions, until: 'turn' | 'flush'): CredentialLookups => {
  // Of the same key that comes with several requests of a turn: what a busy agent sends at once.
  const identify = (key: string | HashKey): string => (typeof key === 'string' ? key : `${key.hash} ${key.workspaceId}`)
  const joined = <Key extends string | HashKey, Parsed>(
    statement: ReturnType<typeof recordsStatement>,
    values: (keys: readonly Key[]) => unknown[],
    read: (record: string) => Parsed,
  ) => joinedRecords<Key, Parsed>({ query, statement, values, read, until, identify })
  const apiKeys = joined(byApiKey, (keys: readonly string[]) => [array(keys)], readApiKey)
  const sessions = joined(bySession, (keys: readonly HashKey[]) => [...hashes(keys), options.adminAccounts], readSession)
  const accessTokens = joined(byAccessToken, (keys: readonly string[]) => [array(keys), options.audience], readAccessToken)
  const dashboardTokens = joined(
    byDashboardToken,
    (keys: readonly HashKey[]) => [...hashes(keys), options.adminAccounts, options.sessionIdleDays],
    readDashboardToken,
  )
  return {
    apiKeys,
    session: async (key) => (await sessions(key))[0],
    accessToken: async (hash) => (await accessTokens(hash))[0],
    dashboardToken: async (key) => (await dashboardTokens(key))[0],
  }
}

/** The lookups of a transaction are joined with each other, and run in it. Without a transaction, those of the shared connection are. */
export const createLookupsIn = (query: Query, options: LookupOptions): ((tx?: Tx) => CredentialLookups) => {
  const shared = createCredentialLookups(query, options, 'turn')
  const own = new WeakMap<Tx, CredentialLookups>()
  return (tx) => {
    if (!tx) return shared
    const known = own.get(tx)
    if (known) return known
    // With the locks of their accounts, behind which they are read.
    const lookups = createCredentialLookups(tx.query, options, 'flush')
    own.set(tx, lookups)
    return lookups
  }
}
