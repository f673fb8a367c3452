import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { providers } from '../../lib/rail-names.ts'
import { bytes, id, idOf, instant, money, oneOf } from './columns.ts'

export const suspenseReasons = [
  'superseded_attempt',
  'amount_mismatch',
  'unreadable_amount',
  'receipt_taken',
  'contradiction',
  'unbookable_delivery',
  'not_in_our_books',
  'unknown_reference',
  'account_closed',
] as const
export const suspenseOutcomes = ['adjusted', 'reversed', 'explained', 'assigned'] as const

/** Money that moved at a provider but that the service cannot book. A person decides what to do with it. */
export const suspenseItems = pgTable(
  'suspense_items',
  {
    id: id(),
    rail: text().notNull(),
    direction: text({ enum: ['in', 'out'] }).notNull(),
    reason: text({ enum: suspenseReasons }).notNull(),
    /** Identifies the finding, so that a repeated finding creates no second item. */
    fingerprint: text().notNull(),
    attemptId: uuid(),
    deliveryId: uuid(),
    subjectKind: text(),
    subjectId: uuid(),
    providerReceipt: text(),
    amountMinor: money(),
    /** The transfer to the suspense account. Null while a hold covers the money, or if the amount is unknown. */
    transferId: uuid(),
    outcome: text({ enum: suspenseOutcomes }),
    note: text(),
    resolvedBy: text(),
    /** An outcome above one administrator's limit, which applies when a second administrator submits the same outcome. */
    proposedOutcome: text({ enum: suspenseOutcomes }),
    proposedBy: text(),
    createdAt: instant().notNull(),
    resolvedAt: instant(),
  },
  (t) => [
    uniqueIndex('suspense_items_fingerprint_key').on(t.fingerprint),
    index('suspense_items_open').on(t.id).where(sql`${t.resolvedAt} is null`),
    index('suspense_items_receipt').on(t.providerReceipt).where(sql`${t.providerReceipt} is not null`),
    check('suspense_items_resolved_check', sql`(${t.resolvedAt} is null) = (${t.outcome} is null)`),
  ],
)

/** Comparisons of our books with a provider's statements. */
export const reconciliations = pgTable(
  'reconciliations',
  {
    id: id(),
    provider: text({ enum: providers }).notNull(),
    /** The file name, `provider` for the provider's own list, or `balance` for its account balances. */
    source: text().notNull(),
    /** The account at the provider, from the header of the file. Null: the file names none. */
    account: text(),
    contentHash: bytes().notNull(),
    periodStart: instant().notNull(),
    periodEnd: instant().notNull(),
    lines: integer().notNull(),
    matched: integer().notNull(),
    differences: integer().notNull(),
    /** Totals in our books and at the provider over the period: money in and money out. */
    totals: jsonb().$type<Record<string, string>>().notNull(),
    /** The provider's charges in the period, and our fees. */
    chargesMinor: money(),
    feesMinor: money(),
    requestedBy: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [uniqueIndex('reconciliations_content_key').on(t.provider, t.contentHash)],
)

export const reconciliationDifferences = pgTable(
  'reconciliation_differences',
  {
    id: id(),
    reconciliationId: idOf(() => reconciliations.id).notNull(),
    kind: text().notNull(),
    receipt: text(),
    subjectKind: text(),
    subjectId: uuid(),
    bookedMinor: money(),
    statedMinor: money(),
    /** The cause of the difference and how to resolve it, in one sentence each. */
    reason: text().notNull(),
    action: text().notNull(),
    /** The payment outcome that an operator may accept. */
    offer: text({ enum: ['succeeded', 'failed'] }),
    resolvedAt: instant(),
    resolvedBy: text(),
    note: text(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('reconciliation_differences_run').on(t.reconciliationId, t.id),
    index('reconciliation_differences_open').on(t.id).where(sql`${t.resolvedAt} is null`),
    index('reconciliation_differences_subject').on(t.subjectId).where(sql`${t.subjectId} is not null`),
  ],
)

/** A query for one of our balances. Its answer is of some later moment, so our books are read at the time of the query. */
export const balanceQueries = pgTable(
  'balance_queries',
  {
    id: id(),
    roundId: uuid().notNull(),
    provider: text({ enum: providers }).notNull(),
    account: text().notNull(),
    secretHash: bytes().notNull(),
    cameInMinor: money().notNull(),
    wentOutMinor: money().notNull(),
    /** The balance of all sub-accounts together. */
    statedMinor: money(),
    subAccounts: integer(),
    /** The balance of the account from which the provider deducts charges, which is compared separately. */
    chargesAccountMinor: money(),
    requestedAt: instant().notNull(),
    answeredAt: instant(),
  },
  (t) => [
    index('balance_queries_round').on(t.roundId),
    index('balance_queries_requested').on(t.provider, t.requestedAt),
    check('balance_queries_answer_check', sql`num_nulls(${t.statedMinor}, ${t.subAccounts}, ${t.answeredAt}) in (0, 3)`),
  ],
)

export const pauseCauses = ['operator', 'lost_writes', 'unknown_sender'] as const

/** A paused rail sends nothing until every cause has ended. Each cause ends separately. `lost_writes`: paused by the service. */
export const railPauses = pgTable(
  'rail_pauses',
  {
    rail: text().notNull(),
    cause: text({ enum: pauseCauses }).notNull(),
    reason: text().notNull(),
    pausedBy: text().notNull(),
    pausedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.rail, t.cause] })],
)

/** A period in which a rail was paused, by which its waiting payments may wait longer. `endedAt`: null while it lasts. */
export const railPausePeriods = pgTable(
  'rail_pause_periods',
  { id: id(), rail: text().notNull(), beganAt: instant().notNull(), endedAt: instant() },
  (t) => [
    index('rail_pause_periods_rail').on(t.rail, t.beganAt),
    uniqueIndex('rail_pause_periods_open_key').on(t.rail).where(sql`${t.endedAt} is null`),
    check('rail_pause_periods_order_check', sql`${t.endedAt} >= ${t.beganAt}`),
  ],
)

/** A loss of committed writes: payments may have been sent without a trace. `endedAt`: when an operator has reconciled. */
export const writeLosses = pgTable('write_losses', {
  noticedAt: instant().primaryKey(),
  noticedBy: text().notNull(),
  endedAt: instant(),
  endedBy: text(),
})

/** Proof that the provider rejects duplicates. Without it, the rail never resends. `account`: our account at the provider. */
export const duplicateChecks = pgTable(
  'duplicate_checks',
  { rail: text().notNull(), account: text().notNull(), passedBy: text().notNull(), passedAt: instant().notNull() },
  (t) => [primaryKey({ columns: [t.rail, t.account] })],
)

/**
 * A provider's access token, encrypted and shared by all processes, because a new token may invalidate the previous one. Fetches
 * are numbered, so that only one process fetches at a time and an older fetch never replaces a newer token.
 */
export const providerTokens = pgTable(
  'provider_tokens',
  {
    provider: text({ enum: providers }).primaryKey(),
    tokenCiphertext: bytes(),
    tokenKeyId: text(),
    /** When to renew the token. */
    expiresAt: instant(),
    /** Number of the fetch that started last, and its start time by the database's clock. */
    begun: integer().notNull(),
    begunAt: instant().notNull(),
    /** Number of the fetch that finished last, successfully or not. */
    ended: integer().notNull(),
  },
  (t) => [
    check('provider_tokens_token_check', sql`num_nulls(${t.tokenCiphertext}, ${t.tokenKeyId}, ${t.expiresAt}) in (0, 3)`),
    check('provider_tokens_fetch_check', sql`${t.ended} <= ${t.begun}`),
  ],
)

/** The result and time of the last check of all promises (`verify`). */
export const verifyPoints = pgTable('verify_points', {
  name: text().primaryKey(),
  through: text().notNull(),
  totals: jsonb().$type<Record<string, string>>().notNull(),
  at: instant().notNull(),
})

export const receiptDirections = ['in', 'out', 'return'] as const
export const receiptOwnerKinds = ['payment', 'topup', 'deposit', 'suspense'] as const

/** The single owner of a provider's receipt. A receipt identifies a transaction and can be claimed once in each direction. */
export const receiptClaims = pgTable(
  'receipt_claims',
  {
    provider: text().notNull(),
    direction: text({ enum: receiptDirections }).notNull(),
    /** The receipt in uppercase, because providers' lists use either case. */
    receiptKey: text().notNull(),
    ownerKind: text({ enum: receiptOwnerKinds }).notNull(),
    ownerId: uuid().notNull(),
    amountMinor: money(),
    claimedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.provider, t.direction, t.receiptKey] }),
    index('receipt_claims_owner').on(t.ownerId),
    check('receipt_claims_direction_check', oneOf(t.direction, receiptDirections)),
    check('receipt_claims_owner_check', oneOf(t.ownerKind, receiptOwnerKinds)),
    check('receipt_claims_key_check', sql`${t.receiptKey} = upper(${t.receiptKey})`),
  ],
)

/** A provider's later contradiction of a reported success, or a second amount for a known receipt. An operator investigates. */
export const providerAlerts = pgTable(
  'provider_alerts',
  {
    id: id(),
    /** Identifies the finding, so that a repeated finding creates no second alert. */
    fingerprint: text().notNull(),
    rail: text().notNull(),
    subjectKind: text().notNull(),
    subjectId: uuid().notNull(),
    word: text().notNull(),
    receipt: text(),
    amountMinor: money(),
    deliveryId: uuid(),
    createdAt: instant().notNull(),
    resolvedAt: instant(),
    resolvedBy: text(),
    note: text(),
  },
  (t) => [
    uniqueIndex('provider_alerts_fingerprint_key').on(t.fingerprint),
    index('provider_alerts_open').on(t.id).where(sql`${t.resolvedAt} is null`),
    index('provider_alerts_subject').on(t.subjectId),
  ],
)

export const providerMovementKinds = ['settlement', 'bank_transfer', 'charges'] as const

/** A movement between the organisation's own accounts, declared once by an operator. Signed: positive is money in. */
export const providerMovements = pgTable(
  'provider_movements',
  {
    id: id(),
    provider: text({ enum: providers }).notNull(),
    account: text(),
    kind: text({ enum: providerMovementKinds }).notNull(),
    receipt: text(),
    amountMinor: money().notNull(),
    movedAt: instant().notNull(),
    note: text().notNull(),
    namedBy: text().notNull(),
    /** The comparison of balances that included the movement. Null until the next comparison. */
    reconciliationId: idOf(() => reconciliations.id),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('provider_movements_moved').on(t.provider, t.movedAt),
    index('provider_movements_reconciliation').on(t.reconciliationId, t.provider),
    uniqueIndex('provider_movements_receipt_key').on(t.provider, sql`upper(${t.receipt})`).where(sql`${t.receipt} is not null`),
    uniqueIndex('provider_movements_key')
      .on(t.provider, sql`coalesce(${t.account}, '')`, t.kind, t.movedAt, t.amountMinor)
      .where(sql`${t.receipt} is null`),
    check('provider_movements_kind_check', oneOf(t.kind, providerMovementKinds)),
    check('provider_movements_amount_check', sql`${t.amountMinor} <> 0`),
  ],
)

/** Logs in which processes record each send before it happens. An attempt names the log of the process that sent it. */
export const sendLogs = pgTable('send_logs', {
  id: id(),
  process: text().notNull(),
  startedAt: instant().notNull(),
  /** Renewed by a live process. */
  seenAt: instant().notNull(),
  /** When the process shut down with the results of all its sends recorded. */
  stoppedAt: instant(),
})
