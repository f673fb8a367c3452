import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, oneOf } from './columns.ts'
import { grants } from './grants.ts'
import { sessions } from './sessions.ts'

export const clientAuthMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const
export const clientGrantTypes = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'] as const

/** Clients that registered dynamically, and clients whose id is the URL of their metadata document. */
export const oauthClients = pgTable(
  'oauth_clients',
  {
    id: id(),
    /** The URL of the metadata document. Null for a registered client, whose `client_id` is the row's id. */
    url: text(),
    name: text().notNull(),
    redirectUris: text().array().notNull(),
    grantTypes: text({ enum: clientGrantTypes }).array().notNull(),
    authMethod: text({ enum: clientAuthMethods }).notNull(),
    /** Argon2id hash in encoded form. */
    secretHash: text(),
    /** Scopes of a request without scopes. Null: all scopes that may be requested. */
    scopes: text().array(),
    uri: text(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
    /** When the metadata document must be fetched again. */
    freshUntil: instant(),
  },
  (t) => [
    uniqueIndex('oauth_clients_url_key').on(t.url),
    index('oauth_clients_idle').on(t.lastUsedAt, t.createdAt),
    check('oauth_clients_secret_check', sql`(${t.authMethod} = 'none') = (${t.secretHash} is null)`),
    check('oauth_clients_url_check', sql`${t.url} is null or ${t.authMethod} = 'none'`),
    check('oauth_clients_auth_method_check', oneOf(t.authMethod, clientAuthMethods)),
  ],
)

export const authorizationFlows = ['code', 'device'] as const
export const authorizationStatuses = ['pushed', 'pending', 'approved', 'denied', 'redeemed'] as const

/** A client's authorization request, from its arrival (pushed, browser or device) until its code is issued. */
export const oauthAuthorizations = pgTable(
  'oauth_authorizations',
  {
    id: id(),
    clientId: idOf(() => oauthClients.id).notNull(),
    flow: text({ enum: authorizationFlows }).notNull(),
    status: text({ enum: authorizationStatuses }).notNull(),
    scopes: text().array().notNull(),
    resources: text().array().notNull(),
    /** The SpendingControls that the client requested, in the API's form. Null: none. */
    requestedControls: jsonb(),
    redirectUri: text(),
    state: text(),
    codeChallenge: text(),
    requestUriHash: bytes(),
    deviceCodeHash: bytes(),
    userCode: text(),
    pollIntervalSeconds: integer(),
    lastPolledAt: instant(),
    /** The account that was signed in when the request arrived, if any. Only this account may then decide the request. */
    accountId: idOf(() => accounts.id),
    sessionId: uuid().references(() => sessions.id, { onDelete: 'set null' }),
    /** The grant that the decision created. Until the code is redeemed, the grant expires with the code. */
    grantId: idOf(() => grants.id),
    codeHash: bytes(),
    codeExpiresAt: instant(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    decidedAt: instant(),
    redeemedAt: instant(),
  },
  (t) => [
    uniqueIndex('oauth_authorizations_request_uri_key').on(t.requestUriHash),
    uniqueIndex('oauth_authorizations_device_code_key').on(t.deviceCodeHash),
    uniqueIndex('oauth_authorizations_user_code_key').on(t.userCode),
    uniqueIndex('oauth_authorizations_code_key').on(t.codeHash),
    index('oauth_authorizations_client').on(t.clientId),
    index('oauth_authorizations_grant').on(t.grantId),
    index('oauth_authorizations_expiry').on(t.expiresAt),
    check('oauth_authorizations_flow_check', oneOf(t.flow, authorizationFlows)),
    check('oauth_authorizations_status_check', oneOf(t.status, authorizationStatuses)),
    check(
      'oauth_authorizations_code_check',
      sql`${t.flow} = 'device' or (${t.redirectUri} is not null and ${t.codeChallenge} is not null)`,
    ),
    check(
      'oauth_authorizations_device_check',
      sql`${t.flow} = 'code' or (${t.deviceCodeHash} is not null and ${t.userCode} is not null and ${t.pollIntervalSeconds} is not null)`,
    ),
    check('oauth_authorizations_grant_check', sql`(${t.grantId} is not null) = (${t.status} in ('approved', 'redeemed'))`),
  ],
)

/** The OAuth part of a grant, with only the current refresh token's hash. Older tokens are recognised by their derivation. */
export const oauthGrants = pgTable(
  'oauth_grants',
  {
    grantId: idOf(() => grants.id).primaryKey(),
    clientId: idOf(() => oauthClients.id).notNull(),
    resources: text().array().notNull(),
    /** Whether the client sent authorization_details, which the token response then repeats. */
    detailed: boolean().notNull(),
    /** A random prefix of the grant's refresh tokens. All tokens of the grant are derived from it and a secret. */
    handle: text().notNull(),
    generation: integer().notNull(),
    /** The entry of TOKEN_SECRETS from which the current generation is derived. */
    keyId: text().notNull(),
    /** Null for a client without refresh tokens. */
    currentHash: bytes(),
    expiresAt: instant().notNull(),
    /** The latest end that the person consented to. A refresh cannot extend the grant beyond it. Null: no fixed end. */
    endsAt: instant(),
  },
  (t) => [
    uniqueIndex('oauth_grants_handle_key').on(t.handle),
    index('oauth_grants_client').on(t.clientId),
    index('oauth_grants_expiry').on(t.expiresAt),
  ],
)

export const oauthAccessTokens = pgTable(
  'oauth_access_tokens',
  {
    id: id(),
    grantId: idOf(() => grants.id).notNull(),
    generation: integer().notNull(),
    hash: bytes().notNull(),
    scopes: text().array().notNull(),
    resources: text().array().notNull(),
    createdAt: instant().notNull(),
    /** When the previous refresh token was exchanged, by the database's clock, in microseconds. */
    rotatedAt: timestamp({ withTimezone: true, precision: 6, mode: 'string' }).notNull().default(sql`clock_timestamp()`),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('oauth_access_tokens_hash_key').on(t.hash),
    uniqueIndex('oauth_access_tokens_generation_key').on(t.grantId, t.generation),
    index('oauth_access_tokens_expiry').on(t.expiresAt),
  ],
)
