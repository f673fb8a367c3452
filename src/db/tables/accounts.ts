import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { emailKeyOf, id, idOf, instant, oneOf, originSession } from './columns.ts'

export const accountStatuses = ['active', 'frozen', 'closed'] as const
export const identityProviders = ['google', 'github', 'wallet'] as const

export const accounts = pgTable(
  'accounts',
  {
    id: id(),
    status: text({ enum: accountStatuses }).notNull().default('active'),
    /** A verified e-mail address of one of the linked identities. */
    email: text(),
    displayName: text(),
    topupsEnabled: boolean().notNull().default(true),
    paymentsEnabled: boolean().notNull().default(true),
    apiKeysEnabled: boolean().notNull().default(true),
    oauthEnabled: boolean().notNull().default(true),
    /** Set by `npm run admin -- grant`. ADMIN_ACCOUNTS names additional administrators. */
    isAdmin: boolean().notNull().default(false),
    /** The team whose balance this row holds. Such a row cannot sign in and has no identity. Null: the row is a person. */
    holderOfWorkspaceId: uuid(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('accounts_email_key').on(sql`(${emailKeyOf(t.email)})`),
    uniqueIndex('accounts_holder_key').on(t.holderOfWorkspaceId).where(sql`${t.holderOfWorkspaceId} is not null`),
    check('accounts_status_check', oneOf(t.status, accountStatuses)),
  ],
)

/** The accounts that created and last changed a row, each with its grant and the grant's name at that time. */
export const creatorColumns = () => ({
  createdBy: idOf(() => accounts.id).notNull(),
  createdByGrantId: uuid(),
  createdByLabel: text(),
  changedBy: uuid(),
  changedByGrantId: uuid(),
  changedByLabel: text(),
})

export const identities = pgTable(
  'identities',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    provider: text({ enum: identityProviders }).notNull(),
    /** The identity's issuer: a provider's, or `eip155` for a wallet. Sandbox issuers never count as real ones. */
    issuer: text().notNull(),
    subject: text().notNull(),
    /** The unique key: a wallet's lowercase name (with its chain for a contract), or the subject. */
    subjectKey: text().notNull(),
    email: text(),
    emailVerified: boolean().notNull().default(false),
    displayName: text(),
    /** For a contract wallet: the chain that confirmed its signature. */
    chainId: bigint({ mode: 'number' }),
    /** The grant that linked the identity, if any, even through a session. The identity ends with it, unless it is the last. */
    linkedByGrantId: uuid(),
    originSessionId: originSession(),
    /** When a mail server permanently rejected the address. */
    mailRefusedAt: instant(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
  },
  (t) => [
    uniqueIndex('identities_subject_key').on(t.provider, t.issuer, t.subjectKey),
    index('identities_account').on(t.accountId),
    index('identities_email')
      .on(sql`(${emailKeyOf(t.email)})`)
      .where(sql`${t.emailVerified}`),
    index('identities_linked_by').on(t.linkedByGrantId).where(sql`${t.linkedByGrantId} is not null`),
    index('identities_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
    check('identities_provider_check', oneOf(t.provider, identityProviders)),
    check('identities_chain_check', sql`${t.chainId} is null or ${t.provider} = 'wallet'`),
  ],
)
