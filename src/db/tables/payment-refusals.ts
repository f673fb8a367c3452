import { sql } from 'drizzle-orm'
import { check, index, json, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant, money } from './columns.ts'

/** Payment requests that were refused, before any money was held. Deleted after 90 days. */
export const paymentRefusals = pgTable(
  'payment_refusals',
  {
    id: id(),
    workspaceId: uuid().notNull(),
    /** The account that would have paid. */
    accountId: uuid().notNull(),
    initiatorAccountId: uuid().notNull(),
    grantId: uuid(),
    /** Null for a whole batch, or if the request names no beneficiary of the workspace. */
    beneficiaryId: uuid(),
    amountMinor: money().notNull(),
    accountReference: text(),
    error: text().notNull(),
    message: text().notNull(),
    /** The decision as lists show it. Null unless a spending rule refused the payment. */
    decision: json(),
    requestId: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('payment_refusals_workspace').on(t.workspaceId, t.id),
    index('payment_refusals_beneficiary').on(t.beneficiaryId, t.id).where(sql`${t.beneficiaryId} is not null`),
    // For counting recent refusals of a grant or a person.
    index('payment_refusals_recent').on(sql`coalesce(${t.grantId}, ${t.initiatorAccountId})`, t.createdAt),
    index('payment_refusals_age').on(t.createdAt),
    check('payment_refusals_amount_check', sql`${t.amountMinor} > 0`),
  ],
)
