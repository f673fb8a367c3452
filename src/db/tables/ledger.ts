import { sql } from 'drizzle-orm'
import { bigint, check, foreignKey, index, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { id, instant, money, oneOf } from './columns.ts'

export const ledgerAccountKinds = ['customer', 'rail_clearing', 'topup_clearing', 'adjustments', 'suspense', 'fees'] as const

/**
 * A customer's row is the lock for the customer's money and limits. Balances of system accounts are summed from their transfers:
 * their totals stay zero and their rows are never locked, so customers never wait for each other.
 */
export const ledgerAccounts = pgTable(
  'ledger_accounts',
  {
    /** For a customer: the id of the owning account, so that a transfer identifies its owner without another column. */
    id: id(),
    kind: text({ enum: ledgerAccountKinds }).notNull(),
    /** The customer's account. Null for system accounts. Not a foreign key: see ledger/README. */
    ownerId: uuid(),
    code: text().notNull(),
    currency: text().notNull(),
    postedDebitsMinor: money().notNull().default(sql`0`),
    postedCreditsMinor: money().notNull().default(sql`0`),
    pendingDebitsMinor: money().notNull().default(sql`0`),
    createdAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('ledger_accounts_code_key').on(t.code),
    uniqueIndex('ledger_accounts_owner_key').on(t.ownerId),
    check(
      'ledger_accounts_no_overdraft',
      sql`${t.kind} <> 'customer' or ${t.postedCreditsMinor} - ${t.postedDebitsMinor} - ${t.pendingDebitsMinor} >= 0`,
    ),
    check(
      'ledger_accounts_totals_check',
      sql`${t.postedDebitsMinor} >= 0 and ${t.postedCreditsMinor} >= 0 and ${t.pendingDebitsMinor} >= 0`,
    ),
  ],
)

export const transferKinds = ['direct', 'pending', 'post', 'void'] as const

/** The key under which rare transfers are indexed. `row`: the prefix of the transfer's columns, `alias.` or empty. */
export const indexedTypeSql = (row: string): string =>
  `(case ${row}kind when 'pending' then 'payment_hold' when 'post' then 'payment' when 'void' then 'payment_release'
    else case ${row}reference_type when 'topup' then 'topup' when 'deposit' then 'topup' when 'payment' then 'payment_release' else 'adjustment' end end)`
/**
 * The type of a transfer in a history. Late successes that were charged and returned money have no hold: both are indexed as
 * releases. Separations, and fees charged without a hold, are indexed as adjustments.
 */
export const historyTypeSql = (row: string): string =>
  `(case when ${row}reference_type = 'separation' then 'separation' when ${row}reference_type = 'fee' and ${row}kind in ('post', 'direct') then 'fee' when ${row}kind = 'direct' and ${row}reference_type = 'payment' then case when ${row}debit_account_id = ${row}customer_account_id then 'payment' else 'payment_return' end
    else ${indexedTypeSql(row)} end)`
export const rareTransferKinds = ['direct', 'void'] as const satisfies readonly (typeof transferKinds)[number][]

/** One transfer. It names a debited and a credited account, so it always balances. Never updated or deleted. */
export const ledgerTransfers = pgTable(
  'ledger_transfers',
  {
    id: id(),
    amountMinor: money().notNull(),
    availableAfterMinor: money(),
    createdAt: instant().notNull(),
    kind: text({ enum: transferKinds }).notNull(),
    /** The hold that a post or void ends. Unique, so that a hold can end only once. */
    pendingId: uuid(),
    debitAccountId: uuid().notNull(),
    creditAccountId: uuid().notNull(),
    /** The subject: a payment, its fee (`fee`, under the payment's id), a top-up or an adjustment. */
    referenceType: text().notNull(),
    referenceId: uuid().notNull(),
    /** The customer's account that the transfer moved. `availableAfterMinor`: its available balance right after. */
    customerAccountId: uuid(),
    memo: text(),
  },
  (t) => [
    uniqueIndex('ledger_transfers_pending_key').on(t.pendingId, t.customerAccountId).where(sql`${t.pendingId} is not null`),
    foreignKey({ columns: [t.pendingId], foreignColumns: [t.id], name: 'ledger_transfers_pending_fk' }),
    index('ledger_transfers_reference').on(t.referenceId),
    // A prompt or a deposit is credited only once, and a payment is returned only once.
    uniqueIndex('ledger_transfers_direct_key')
      .on(t.referenceId, t.customerAccountId)
      .where(sql`${t.kind} = 'direct' and ${t.referenceType} in ('topup', 'deposit', 'payment')`),
    // A fee whose hold was released can be charged only once.
    uniqueIndex('ledger_transfers_fee_key').on(t.referenceId).where(sql`${t.kind} = 'direct' and ${t.referenceType} = 'fee'`),
    index('ledger_transfers_history').on(t.customerAccountId, t.id),
    index('ledger_transfers_rare')
      .on(t.customerAccountId, sql.raw(indexedTypeSql('')), t.id)
      .where(oneOf(t.kind, rareTransferKinds)),
    check('ledger_transfers_amount_check', sql`${t.amountMinor} > 0`),
    check('ledger_transfers_kind_check', sql`(${t.kind} in ('post', 'void')) = (${t.pendingId} is not null)`),
    check('ledger_transfers_sides_check', sql`${t.debitAccountId} <> ${t.creditAccountId}`),
  ],
)

/** Amounts booked as moved at a provider, up to transfer `through`, so that comparisons need not sum the whole ledger. */
export const clearingPoints = pgTable('clearing_points', {
  name: text().primaryKey(),
  through: uuid().notNull(),
  cameInMinor: money().notNull(),
  wentOutMinor: money().notNull(),
})

/** Types of bookings, as customers see them. `payment_return`: the rail sent a payment back. */
export const bookingTypes = ['topup', 'payment', 'payment_return', 'fee', 'adjustment'] as const
export type BookingType = (typeof bookingTypes)[number]

/** `made`: payments by the time of their request. `opening`: the balance at the start of an hour that has bookings. */
export const totalTypes = [...bookingTypes, 'made', 'opening'] as const

/** Totals per UTC hour in `counted_hours`. An id of zeros: no workspace or payee. `opening`: `came_in_minor` is the balance. */
export const hourTotals = pgTable(
  'hour_totals',
  {
    accountId: uuid().notNull(),
    workspaceId: uuid().notNull(),
    beneficiaryId: uuid().notNull(),
    hour: instant().notNull(),
    entries: bigint({ mode: 'bigint' }).notNull(),
    cameInMinor: money().notNull(),
    wentOutMinor: money().notNull(),
    type: text({ enum: totalTypes }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.hour, t.workspaceId, t.type, t.beneficiaryId] }),
    check('hour_totals_type_check', oneOf(t.type, totalTypes)),
    check(
      'hour_totals_sums_check',
      sql`${t.entries} > 0 and (${t.cameInMinor} >= 0 or ${t.type} = 'opening') and ${t.wentOutMinor} >= 0`,
    ),
  ],
)

/** A single row: `hour_totals` covers the hours from `since` (inclusive) to `through` (exclusive). */
export const countedHours = pgTable(
  'counted_hours',
  { name: text().primaryKey(), since: instant().notNull(), through: instant().notNull() },
  (t) => [check('counted_hours_order_check', sql`${t.since} <= ${t.through}`)],
)
