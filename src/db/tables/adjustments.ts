import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { id, instant, money, oneOf } from './columns.ts'

export const adjustmentStatuses = ['pending', 'posted', 'rejected'] as const

/**
 * A correction of a customer's balance by an administrator, against the ledger's adjustments account. A large one needs a second
 * administrator.
 */
export const adjustments = pgTable(
  'adjustments',
  {
    id: id(),
    status: text({ enum: adjustmentStatuses }).notNull(),
    accountId: uuid()
      .notNull()
      .references(() => accounts.id),
    /** Signed: a positive amount credits the customer. */
    amountMinor: money().notNull(),
    currency: text().notNull(),
    reason: text().notNull(),
    /** Administrators: an account's id, or who ran the command (`shell:name`). */
    requestedBy: text().notNull(),
    decidedBy: text(),
    transferId: uuid(),
    createdAt: instant().notNull(),
    decidedAt: instant(),
  },
  (t) => [
    index('adjustments_operator').on(t.requestedBy, t.decidedAt),
    index('adjustments_account').on(t.accountId, t.id),
    index('adjustments_pending').on(t.id).where(sql`${t.status} = 'pending'`),
    check('adjustments_status_check', oneOf(t.status, adjustmentStatuses)),
    check('adjustments_amount_check', sql`${t.amountMinor} <> 0`),
    check('adjustments_posted_check', sql`(${t.status} = 'posted') = (${t.transferId} is not null)`),
  ],
)
