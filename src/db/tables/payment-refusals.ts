import { sql } from 'drizzle-orm'
import { check, index, json, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant, money } from './columns.ts'

/** Refused payment requests: no money was held. Kept for 90 days. */
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
    /** The decision as lists show it. Only if a spending rule refused the payment. */
    decision: json(),
    requestId: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('payment_refusals_workspace').on(t.workspaceId, t.id),
    index('payment_refusals_beneficiary').on(t.beneficiaryId, t.id).where(sql`${t.beneficiaryId} is not null`),
    // Counts the recent refusals of one grant, or of one person.
    index('payment_refusals_recent').on(sql`coalesce(${t.grantId}, ${t.initiatorAccountId})`, t.createdAt),
    index('payment_refusals_age').on(t.createdAt),
    check('payment_refusals_amount_check', sql`${t.amountMinor} > 0`),
  ],
)
