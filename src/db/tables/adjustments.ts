import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { id, idOf, instant, money, oneOf } from './columns.ts'
import { payments } from './payments.ts'

/** `cancelled`: the payment reached another outcome first. */
export const adjustmentStatuses = ['pending', 'posted', 'rejected', 'cancelled'] as const
export const adjustmentKinds = ['balance', 'payment_failed', 'late_success_written_off'] as const

/** An administrator's decision at the organisation's cost: a balance correction or payment outcome. Two decide large ones. */
export const adjustments = pgTable(
  'adjustments',
  {
    id: id(),
    kind: text({ enum: adjustmentKinds }).notNull(),
    status: text({ enum: adjustmentStatuses }).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    paymentId: idOf(() => payments.id),
    /** Signed: a positive amount credits the customer. */
    amountMinor: money().notNull(),
    currency: text().notNull(),
    reason: text().notNull(),
    /** An administrator's account, or the shell user who ran the command (`shell:name`). */
    requestedBy: text().notNull(),
    decidedBy: text(),
    /** The transfer of a balance correction. Null for a payment, which has its own transfers. */
    transferId: uuid(),
    createdAt: instant().notNull(),
    decidedAt: instant(),
  },
  (t) => [
    index('adjustments_operator').on(t.requestedBy, t.decidedAt),
    index('adjustments_account').on(t.accountId, t.id),
    index('adjustments_pending').on(t.id).where(sql`${t.status} = 'pending'`),
    uniqueIndex('adjustments_payment_pending_key').on(t.paymentId, t.kind).where(sql`${t.status} = 'pending'`),
    check('adjustments_kind_check', oneOf(t.kind, adjustmentKinds)),
    check('adjustments_payment_check', sql`(${t.kind} = 'balance') = (${t.paymentId} is null)`),
    check('adjustments_status_check', oneOf(t.status, adjustmentStatuses)),
    check('adjustments_amount_check', sql`${t.amountMinor} <> 0`),
    check('adjustments_posted_check', sql`(${t.status} = 'posted' and ${t.kind} = 'balance') = (${t.transferId} is not null)`),
  ],
)
