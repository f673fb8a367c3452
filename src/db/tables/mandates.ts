import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { mandateStatuses } from '../transitions.ts'
import { accounts } from './accounts.ts'
import { id, idOf, instant, money } from './columns.ts'
import { grants } from './grants.ts'
import { workspaces } from './workspaces.ts'

/** The use of each mandate is counted in usage_counters, like the use of every limit. */
export const intentMandates = pgTable(
  'intent_mandates',
  {
    id: id(),
    status: text({ enum: mandateStatuses }).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    grantId: idOf(() => grants.id),
    description: text().notNull(),
    maxTotalMinor: money().notNull(),
    maxPerPaymentMinor: money(),
    maxPayments: bigint({ mode: 'number' }),
    beneficiaryIds: uuid().array().notNull(),
    paymentTypes: text().array().notNull(),
    validFrom: instant().notNull(),
    expiresAt: instant().notNull(),
    nonce: text().notNull(),
    termsDigest: text().notNull(),
    message: text().notNull(),
    signature: text().notNull(),
    signer: text().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    revokedAt: instant(),
  },
  (t) => [
    uniqueIndex('intent_mandates_nonce_key').on(t.nonce),
    index('intent_mandates_workspace').on(t.workspaceId, t.id),
    index('intent_mandates_account').on(t.accountId, t.id),
    index('intent_mandates_expiry').on(t.expiresAt).where(sql`${t.status} = 'active'`),
    check('intent_mandates_total_check', sql`${t.maxTotalMinor} > 0`),
  ],
)
