import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, oneOf } from './columns.ts'

export const flowProviders = ['google', 'github'] as const

/** A browser's redirect to a provider and back. Deleted on return, so that a state is valid only once. */
export const signInFlows = pgTable(
  'sign_in_flows',
  {
    id: id(),
    provider: text({ enum: flowProviders }).notNull(),
    stateHash: bytes().notNull(),
    /** Hash of the cookie of the only browser that may complete the flow. Null until a browser opens the flow's link page. */
    browserHash: bytes(),
    /** Hash of the secret in the link page's URL, for a flow that another browser started. */
    linkHash: bytes(),
    /** State, nonce and PKCE verifier, encrypted under the id of the flow. */
    sealed: bytes().notNull(),
    sealedKeyId: text().notNull(),
    returnTo: text().notNull(),
    /** The account to link the identity to, and the requesting credential. All null for a sign-in. */
    accountId: idOf(() => accounts.id),
    credentialKind: text({ enum: ['api_key', 'oauth', 'dashboard', 'session'] }),
    credentialId: uuid(),
    grantId: uuid(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('sign_in_flows_state_key').on(t.stateHash),
    uniqueIndex('sign_in_flows_link_key').on(t.linkHash),
    index('sign_in_flows_expiry').on(t.expiresAt),
    check('sign_in_flows_provider_check', oneOf(t.provider, flowProviders)),
    check('sign_in_flows_intent_check', sql`num_nonnulls(${t.accountId}, ${t.credentialKind}, ${t.credentialId}) in (0, 3)`),
    check('sign_in_flows_binding_check', sql`num_nonnulls(${t.browserHash}, ${t.linkHash}) > 0`),
  ],
)
