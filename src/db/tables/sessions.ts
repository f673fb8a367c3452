import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts, identities } from './accounts.ts'
import { bytes, id, idOf, instant } from './columns.ts'
import { apiKeys, grants } from './grants.ts'
import { workspaces } from './workspaces.ts'

export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    /** Null after the identity is unlinked, which ends the session. */
    identityId: uuid().references(() => identities.id, { onDelete: 'set null' }),
    /** The identity that started the session. A plain id, which outlives the identity. Null: not recorded. */
    beganByIdentityId: uuid(),
    tokenHash: bytes().notNull(),
    userAgent: text(),
    /** Hash of the browser's own cookie, which shows whether the person has signed in there before. Null: not recorded. */
    browserHash: bytes(),
    ip: text(),
    createdAt: instant().notNull(),
    lastUsedAt: instant().notNull(),
    /** When the person last proved their identity: at sign-in, or later with a method that started or predates the session. */
    provenAt: instant().notNull(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
  },
  (t) => [
    uniqueIndex('sessions_token_hash_key').on(t.tokenHash),
    index('sessions_account').on(t.accountId, t.id),
    index('sessions_identity').on(t.identityId),
    index('sessions_began_by').on(t.beganByIdentityId).where(sql`${t.beganByIdentityId} is not null`),
    index('sessions_end').on(sql`least(${t.expiresAt}, ${t.revokedAt})`),
  ],
)

/** A dashboard token ends with the credential that issued it, its parent. Every use checks the parent. */
export const dashboardTokens = pgTable(
  'dashboard_tokens',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    tokenHash: bytes().notNull(),
    sessionId: idOf(() => sessions.id),
    apiKeyId: idOf(() => apiKeys.id),
    oauthTokenId: uuid(),
    grantId: idOf(() => grants.id),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('dashboard_tokens_token_hash_key').on(t.tokenHash),
    index('dashboard_tokens_expiry').on(t.expiresAt),
    index('dashboard_tokens_session').on(t.sessionId),
    check('dashboard_tokens_parent_check', sql`num_nonnulls(${t.sessionId}, ${t.apiKeyId}, ${t.oauthTokenId}) = 1`),
  ],
)

export const noncePurposes = ['wallet_sign_in', 'mandate', 'passkey', 'proof'] as const

/** Single-use nonces. A sign-in's nonce is authenticated and has a row only once it is used. Others have a row from the start. */
export const nonces = pgTable(
  'nonces',
  {
    nonce: text().primaryKey(),
    purpose: text({ enum: noncePurposes }).notNull(),
    /** The digest of a mandate's terms, the account of a passkey, or the session of a proof. */
    boundTo: text(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    consumedAt: instant(),
  },
  (t) => [index('nonces_expiry').on(t.expiresAt)],
)
