import { sql } from 'drizzle-orm'
import { boolean, check, date, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { failureCodes } from '../../errors/failures.ts'
import { lookalikeHashSql, referenceKeySql } from '../../lib/account-reference.ts'
import { collectionRail, hasAccounts, railNames } from '../../lib/rail-names.ts'
import {
  attemptStates,
  paidPaymentStatuses,
  paymentStatuses,
  rarePaymentStatuses,
  underWayPaymentStatuses,
} from '../transitions.ts'
import { bytes, changedIn, id, instant, money, oneOf, packedJson } from './columns.ts'

/** How an administrator booked money that left after the payment had failed: charged to the account, or written off. */
export const lateSuccessResolutions = ['charged', 'written_off'] as const

export const payments = pgTable(
  'payments',
  {
    id: id(),
    // No foreign keys, which would lock each referenced row for every payment: a third of the cost of the insert. Referenced rows
    // are read under the account's lock and never deleted. `verify` finds references to missing rows.
    workspaceId: uuid().notNull(),
    /** The paying account: the holding account of the workspace's balance. */
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    /** Our fee, fixed when the payment is decided. Null: none. */
    feeMinor: money(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    changed: changedIn(),
    completedAt: instant(),
    /** When to send the payment. The row serves as its own queue entry. Null: nothing to send, or an attempt is in progress. */
    dispatchDueAt: instant(),
    /** When to decide and send the payment. Null: immediately. */
    executeAt: instant(),
    /** The local day on which the payment counts against daily limits. Monthly limits use its month. */
    countedDay: date({ mode: 'string' }).notNull(),
    status: text({ enum: paymentStatuses }).notNull(),
    currency: text().notNull(),
    beneficiaryId: uuid().notNull(),
    /** The beneficiary's destination, to which limits and duplicate checks apply. */
    payeeId: uuid().notNull(),
    paymentType: text().notNull(),
    /** ISO 20022 external purpose code: four uppercase letters. */
    purposeCode: text(),
    rail: text({ enum: railNames }).notNull(),
    accountReference: text(),
    narrative: text(),
    metadata: jsonb().$type<Record<string, string>>().notNull(),
    mandateId: uuid(),
    approvalId: uuid(),
    initiatorAccountId: uuid().notNull(),
    grantId: uuid(),
    /**
     * The payment as the API returned it at creation, used for the creation events and for requests that repeat its idempotency
     * key. Later events store only the differences. `due_decision` is added if the payment needs an approval when it is due.
     */
    snapshot: packedJson<{
      due_decision?: unknown
      decision: unknown
      beneficiary: { id: string; display_name: string; destination_mask: string }
      initiated_by: { account_id: string; grant_id: string | null; label: string | null }
    }>('record').notNull(),
    /** The batch, the payment's index in it from 0, and the text of the payment's leaf in the batch's Merkle tree. */
    batchId: uuid(),
    batchIndex: integer(),
    /** For a CSV batch: the row of the payment in the file, numbered as in a spreadsheet. */
    batchRow: integer(),
    batchLeaf: text(),
    /** The request's idempotency key. Never deleted, because the payment's names at the provider are derived from it. */
    idempotencyKey: text(),
    /** SHA-256 of the request body. The snapshot answers a repeated request with the same key and body. */
    requestHash: bytes(),
    /** Null without a hold, as for a scheduled payment, which counts against no limit. */
    holdTransferId: uuid(),
    /** The hold of the fee. Null without a fee or without a hold. */
    feeHoldTransferId: uuid(),
    /** For a scheduled payment: the grant behind its request, for an approval that is requested when the payment is due. */
    originGrantId: uuid(),
    providerReceipt: text(),
    /** One of the codes in errors/failures.ts. `providerCode` is the rail's own code. */
    failureCode: text({ enum: failureCodes }),
    failureMessage: text(),
    providerCode: text(),
    /** Receipt that proves, after the payment failed, that the money moved. An administrator decides how to book it. */
    lateSuccessReceipt: text(),
    lateSuccessAmountMinor: money(),
    lateSuccessAt: instant(),
    lateSuccessResolution: text({ enum: lateSuccessResolutions }),
    lateSuccessResolvedAt: instant(),
    /** The W3C Trace Context of the creating request, for spans of later work. */
    traceparent: text(),
  },
  (t) => [
    // Due payments by rail and tenant, so that dispatchers can serve tenants in turn.
    index('payments_dispatch').on(t.rail, t.accountId, t.dispatchDueAt).where(sql`${t.dispatchDueAt} is not null`),
    index('payments_late_success').on(t.id).where(sql`${t.lateSuccessAt} is not null and ${t.lateSuccessResolvedAt} is null`),
    index('payments_workspace').on(t.workspaceId, t.id),
    // The id is omitted, so that rows of one transaction share an index entry. They are sorted when read.
    index('payments_changed').on(t.workspaceId, t.changed),
    // For searches by amount.
    index('payments_amount').on(t.workspaceId, t.amountMinor),
    index('payments_workspace_status').on(t.workspaceId, t.status, t.id),
    // For administrators, across all tenants.
    index('payments_rare').on(t.status, t.id).where(oneOf(t.status, rarePaymentStatuses)),
    // Payments with one reference, across payees.
    index('payments_reference')
      .on(t.workspaceId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${t.accountReference} is not null`),
    index('payments_beneficiary').on(t.beneficiaryId, t.id),
    // Finds a payee's latest paid payment, even behind many payments that are waiting for a result.
    index('payments_paid').on(t.payeeId, t.id, t.amountMinor).where(oneOf(t.status, paidPaymentStatuses)),
    index('payments_paybill_account')
      .on(t.payeeId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${oneOf(t.rail, railNames.filter(hasAccounts))} and ${t.accountReference} is not null`),
    // Finds recent payments that look the same, to prevent double payments.
    index('payments_lookalikes').on(t.payeeId, sql.raw(lookalikeHashSql('amount_minor', 'account_reference')), t.createdAt),
    // An agent must not repeat a payment whose outcome is unknown.
    index('payments_unknown').on(t.payeeId).where(sql`${t.status} = 'unknown'`),
    // Approval thresholds count the day's payments without an approval.
    index('payments_unapproved').on(t.payeeId, t.countedDay).where(sql`${t.approvalId} is null and ${t.mandateId} is null`),
    index('payments_approved').on(t.payeeId, t.countedDay).where(sql`${t.approvalId} is not null or ${t.mandateId} is not null`),
    index('payments_mandate').on(t.mandateId).where(sql`${t.mandateId} is not null`),
    index('payments_open').on(t.status, t.updatedAt).where(oneOf(t.status, underWayPaymentStatuses)),
    uniqueIndex('payments_idempotency_key')
      .on(t.workspaceId, t.idempotencyKey, t.accountId)
      .where(sql`${t.idempotencyKey} is not null`),
    uniqueIndex('payments_receipt_key').on(t.rail, t.providerReceipt).where(sql`${t.providerReceipt} is not null`),
    check('payments_key_check', sql`(${t.idempotencyKey} is null) = (${t.requestHash} is null)`),
    index('payments_batch').on(t.batchId, t.batchIndex).where(sql`${t.batchId} is not null`),
    check('payments_batch_check', sql`num_nulls(${t.batchId}, ${t.batchIndex}, ${t.batchLeaf}) in (0, 3)`),
    index('payments_purpose').on(t.workspaceId, t.purposeCode, t.id).where(sql`${t.purposeCode} is not null`),
    check('payments_purpose_check', sql`${t.purposeCode} ~ '^[A-Z]{4}$'`),
    check('payments_amount_check', sql`${t.amountMinor} > 0`),
    check('payments_fee_check', sql`${t.feeMinor} > 0`),
    // Prevents a version without fees from holding a scheduled payment's amount without its fee.
    check(
      'payments_fee_hold_check',
      sql`(${t.feeHoldTransferId} is not null) = (${t.feeMinor} is not null and ${t.holdTransferId} is not null)`,
    ),
    index('payments_scheduled').on(t.executeAt).where(sql`${t.status} = 'scheduled'`),
    // Totals of scheduled payments are read with an index-only scan.
    index('payments_due').on(t.workspaceId, t.executeAt, t.amountMinor, t.feeMinor).where(sql`${t.status} = 'scheduled'`),
    check(
      'payments_hold_check',
      sql`${t.holdTransferId} is not null or (${t.executeAt} is not null and ${t.status} in ('scheduled', 'failed', 'cancelled'))`,
    ),
    check('payments_dispatch_check', sql`${t.dispatchDueAt} is null or ${t.status} = 'processing'`),
    check('payments_late_success_check', sql`${t.lateSuccessAt} is null or ${t.status} = 'failed'`),
  ],
)

export const attemptKinds = ['payment', 'topup'] as const
/** One send to a rail, committed before the rail is called. Later reports from the provider are matched to it. */
export const railAttempts = pgTable(
  'rail_attempts',
  {
    id: id(),
    subjectId: uuid().notNull(),
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    nextCheckAt: instant(),
    askedAt: instant(),
    /** Time of the latest status query to the rail. */
    checkedAt: instant(),
    /** Above 0 if the order's names of earlier generations belong to another order. */
    generation: integer().notNull(),
    /** Number of this send of the order, starting at 1. */
    send: integer().notNull(),
    checks: integer().notNull().default(0),
    kind: text({ enum: attemptKinds }).notNull(),
    rail: text({ enum: [...railNames, collectionRail] }).notNull(),
    state: text({ enum: attemptStates }).notNull(),
    /** The order's id at the provider, the same for every send of the order. */
    orderId: uuid().notNull(),
    /** 12 digits, the same for every send of the order. Some rails return no other identifier. */
    reference: text().notNull(),
    /** The send log that records the attempt if it was sent. Null: not sent yet, or no send log can be written. */
    senderId: uuid(),
    /** A hash of the order in the provider's format. */
    fingerprint: bytes(),
    providerRequest: text(),
    providerConversation: text(),
  },
  (t) => [
    // Every resend of an order reuses the names of its first send. No other order has them.
    uniqueIndex('rail_attempts_reference_key').on(t.reference).where(sql`${t.send} = 1`),
    index('rail_attempts_subject').on(t.subjectId),
    // Prevents a second send even if the code has a bug: a new attempt requires proof that the previous one was never sent.
    uniqueIndex('rail_attempts_one_live').on(t.subjectId, t.accountId).where(sql`${t.state} <> 'not_sent'`),
    index('rail_attempts_due').on(t.nextCheckAt).where(sql`${t.state} <> 'resolved'`),
    check('rail_attempts_amount_check', sql`${t.amountMinor} > 0`),
  ],
)

/** Requests to the callback listener. For a rejected request, only its arrival is recorded. */
export const callbackDeliveries = pgTable(
  'callback_deliveries',
  {
    id: id(),
    attemptId: uuid(),
    /** The owning account of the callback's attempt. Null: no such attempt. */
    accountId: uuid(),
    receivedAt: instant().notNull(),
    processedAt: instant(),
    /** How often processing failed for reasons other than an unavailable database. */
    failures: integer().notNull().default(0),
    kind: text().notNull(),
    sourceIp: text(),
    authentic: boolean().notNull(),
    /** Result of processing: applied, repeated, mismatch, ignored, forged … */
    verdict: text(),
  },
  (t) => [
    index('callback_deliveries_attempt').on(t.attemptId),
    index('callback_deliveries_open').on(t.receivedAt).where(sql`${t.processedAt} is null`),
    index('callback_deliveries_refused').on(t.receivedAt).where(sql`not ${t.authentic}`),
    index('callback_deliveries_put_aside').on(t.id).where(sql`${t.verdict} = 'unbookable'`),
  ],
)

/**
 * The unchanged body of an authentic callback, under the id of its delivery. Encrypted, because it contains phone numbers.
 * Partitioned by month, because bodies take most of the space, are read once, and are deleted by whole months.
 */
export const callbackBodies = pgTable('callback_bodies', {
  id: id(),
  bodyCiphertext: bytes().notNull(),
  bodyKeyId: text().notNull(),
})
