import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { depositRails, providers } from '../../lib/rail-names.ts'
import { bytes, id, idOf, instant, money } from './columns.ts'
import { suspenseItems } from './rails.ts'
import { topups } from './topups.ts'

/** `received`: not booked. `credited`: booked to its top-up. `known`: booked earlier. `suspense`: no top-up has its reference. */
export const depositStates = ['received', 'credited', 'suspense', 'known'] as const
/** The source of the deposit: a notification from the provider, the provider's daily list, or a statement. */
export const depositSources = ['notice', 'list', 'statement'] as const

/** Payments from people to the organisation's accounts, one row per provider's receipt. */
export const deposits = pgTable(
  'deposits',
  {
    id: id(),
    rail: text({ enum: depositRails }).notNull(),
    provider: text({ enum: providers }).notNull(),
    receipt: text().notNull(),
    amountMinor: money().notNull(),
    currency: text().notNull(),
    /** The account number as the payer typed it. */
    reference: text().notNull(),
    payerName: text(),
    state: text({ enum: depositStates }).notNull(),
    source: text({ enum: depositSources }).notNull(),
    topupId: idOf(() => topups.id),
    suspenseId: idOf(() => suspenseItems.id),
    /** The provider's notification, byte for byte. Null if the deposit appeared only in a list. */
    bodyCiphertext: bytes(),
    bodyKeyId: text(),
    /** Time of the payment by the provider's clock. */
    paidAt: instant().notNull(),
    receivedAt: instant().notNull(),
    settledAt: instant(),
  },
  (t) => [
    uniqueIndex('deposits_receipt_key').on(t.provider, t.receipt),
    index('deposits_topup').on(t.topupId),
    index('deposits_suspense').on(t.suspenseId),
    index('deposits_open').on(t.receivedAt).where(sql`${t.state} = 'received'`),
    index('deposits_paid').on(t.rail, t.paidAt),
    check('deposits_amount_check', sql`${t.amountMinor} > 0`),
    check('deposits_body_check', sql`num_nulls(${t.bodyCiphertext}, ${t.bodyKeyId}) in (0, 2)`),
    check(
      'deposits_state_check',
      sql`(${t.state} = 'received') = (${t.settledAt} is null) and (${t.state} <> 'suspense' or ${t.suspenseId} is not null)`,
    ),
  ],
)

/** Our callback URLs for deposit notifications, as last registered with each provider. */
export const depositRegistrations = pgTable('deposit_registrations', {
  rail: text({ enum: depositRails }).primaryKey(),
  addressHash: bytes().notNull(),
  registeredAt: instant().notNull(),
})
