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

/** The booking of money that left for a payment after it had failed: charged to the account, or written off. */
export const lateSuccessResolutions = ['charged', 'written_off'] as const

export const payments = pgTable(
  'payments',
  {
    id: id(),
    // No foreign keys: each would lock its row with every payment, a third of the row's cost. Referenced rows are read under the
    // account's lock and never deleted; `verify` looks for references to missing rows.
    workspaceId: uuid().notNull(),
    /** The paying account: the workspace's owning account. */
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    /** Our fee, decided with the payment. Null: none. */
    feeMinor: money(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    changed: changedIn(),
    completedAt: instant(),
    /** When to send it: the row is its own queue entry. Null: not to be sent, or an attempt is under way. */
    dispatchDueAt: instant(),
    /** When to decide and send it. Null: at once. */
    executeAt: instant(),
    /** The local day that counts it for daily limits; its month counts it for monthly ones. */
    countedDay: date({ mode: 'string' }).notNull(),
    status: text({ enum: paymentStatuses }).notNull(),
    currency: text().notNull(),
    beneficiaryId: uuid().notNull(),
    /** The beneficiary's destination, to which limits and the duplicate check apply. */
    payeeId: uuid().notNull(),
    paymentType: text().notNull(),
    /** An ISO 20022 external purpose code: four uppercase letters. */
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
     * The payment as REST returned it at creation. Its creation events and the answer to its idempotency key are this text; later
     * events store only the differences.
     */
    snapshot: packedJson<{
      decision: unknown
      beneficiary: { id: string; display_name: string; destination_mask: string }
      initiated_by: { account_id: string; grant_id: string | null; label: string | null }
    }>('record').notNull(),
    /** The batch that contains it. `batchIndex` counts from 0; `batchLeaf` is the text of its leaf in the batch's Merkle tree. */
    batchId: uuid(),
    batchIndex: integer(),
    /** For a CSV batch: the item's row in the file, as a spreadsheet numbers it. */
    batchRow: integer(),
    batchLeaf: text(),
    /** The request's key. The payment's name at the provider is derived from it, so it is kept for ever. */
    idempotencyKey: text(),
    /** SHA-256 of the request's body under that key. The snapshot is the answer to a repeated request. */
    requestHash: bytes(),
    /** Null without a hold: a scheduled payment has none, and counts against no limit. */
    holdTransferId: uuid(),
    /** The hold of the fee; null without a fee or a hold. */
    feeHoldTransferId: uuid(),
    /** For a scheduled payment: the grant behind its request, for an approval requested when the payment is due. */
    originGrantId: uuid(),
    providerReceipt: text(),
    /** One of the codes in errors/failures.ts; `providerCode` is the rail's own code. */
    failureCode: text({ enum: failureCodes }),
    failureMessage: text(),
    providerCode: text(),
    /** Proof, received after the payment had failed, that the money moved. An administrator books it. */
    lateSuccessReceipt: text(),
    lateSuccessAmountMinor: money(),
    lateSuccessAt: instant(),
    lateSuccessResolution: text({ enum: lateSuccessResolutions }),
    lateSuccessResolvedAt: instant(),
    /** The trace of the creating request (W3C Trace Context), for later work. */
    traceparent: text(),
  },
  (t) => [
    // Due payments by rail and tenant, so that dispatchers can take each tenant in turn.
    index('payments_dispatch').on(t.rail, t.accountId, t.dispatchDueAt).where(sql`${t.dispatchDueAt} is not null`),
    index('payments_late_success').on(t.id).where(sql`${t.lateSuccessAt} is not null and ${t.lateSuccessResolvedAt} is null`),
    index('payments_workspace').on(t.workspaceId, t.id),
    // Without the id: rows of one transaction share an entry, and are sorted when read.
    index('payments_changed').on(t.workspaceId, t.changed),
    // For a person's search by amount.
    index('payments_amount').on(t.workspaceId, t.amountMinor),
    index('payments_workspace_status').on(t.workspaceId, t.status, t.id),
    // For administrators, over all tenants.
    index('payments_rare').on(t.status, t.id).where(oneOf(t.status, rarePaymentStatuses)),
    // Payments with one reference, to any payee.
    index('payments_reference')
      .on(t.workspaceId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${t.accountReference} is not null`),
    index('payments_beneficiary').on(t.beneficiaryId, t.id),
    // Finds a payee's latest paid payment, even behind many payments that still wait for their results.
    index('payments_paid').on(t.payeeId, t.id, t.amountMinor).where(oneOf(t.status, paidPaymentStatuses)),
    index('payments_paybill_account')
      .on(t.payeeId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${oneOf(t.rail, railNames.filter(hasAccounts))} and ${t.accountReference} is not null`),
    // Finds recent payments that look the same, against double payment.
    index('payments_lookalikes').on(t.payeeId, sql.raw(lookalikeHashSql('amount_minor', 'account_reference')), t.createdAt),
    // No agent may repeat a payment whose outcome is unknown.
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
    // A version without fees must not hold a scheduled payment without its fee.
    check(
      'payments_fee_hold_check',
      sql`(${t.feeHoldTransferId} is not null) = (${t.feeMinor} is not null and ${t.holdTransferId} is not null)`,
    ),
    index('payments_scheduled').on(t.executeAt).where(sql`${t.status} = 'scheduled'`),
    // Sums of due payments are read from this index alone.
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
/** One send to a rail, committed before the rail is called. The provider's later reports are matched with it. */
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
    /** The time of the latest query to the rail about it. */
    checkedAt: instant(),
    /** Above 0 if the names of earlier generations belong to another order. */
    generation: integer().notNull(),
    /** Counts the sends of the order from 1. */
    send: integer().notNull(),
    checks: integer().notNull().default(0),
    kind: text({ enum: attemptKinds }).notNull(),
    rail: text({ enum: [...railNames, collectionRail] }).notNull(),
    state: text({ enum: attemptStates }).notNull(),
    /** The provider's id for the order. Every send of the order has the same one. */
    orderId: uuid().notNull(),
    /** 12 digits, the same for every send of the order. Some rails pass on no other name. */
    reference: text().notNull(),
    /** The send log that names the attempt if it was sent. Null: before the send, or if no send log can be written. */
    senderId: uuid(),
    /** A hash of the order in the provider's form. */
    fingerprint: bytes(),
    providerRequest: text(),
    providerConversation: text(),
  },
  (t) => [
    // Every resend of an order has the names of its first send; no other order has them.
    uniqueIndex('rail_attempts_reference_key').on(t.reference).where(sql`${t.send} = 1`),
    index('rail_attempts_subject').on(t.subjectId),
    // Prevents a second send even if the code has a defect: another attempt needs proof that the first one was never sent.
    uniqueIndex('rail_attempts_one_live').on(t.subjectId, t.accountId).where(sql`${t.state} <> 'not_sent'`),
    index('rail_attempts_due').on(t.nextCheckAt).where(sql`${t.state} <> 'resolved'`),
    check('rail_attempts_amount_check', sql`${t.amountMinor} > 0`),
  ],
)

/** Requests to the callback listener. A refused one has only its arrival recorded. */
export const callbackDeliveries = pgTable(
  'callback_deliveries',
  {
    id: id(),
    attemptId: uuid(),
    /** The owning account of its attempt. Null: no such attempt. */
    accountId: uuid(),
    receivedAt: instant().notNull(),
    processedAt: instant(),
    /** How often processing failed for a reason other than an unavailable database. */
    failures: integer().notNull().default(0),
    kind: text().notNull(),
    sourceIp: text(),
    authentic: boolean().notNull(),
    /** The result: applied, repeated, mismatch, ignored, forged … */
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
 * The unchanged body of an authentic delivery, under the delivery's id; encrypted, as it contains phone numbers. Divided into
 * months: bodies are most of a delivery's size, are read once, and are dropped by whole months.
 */
export const callbackBodies = pgTable('callback_bodies', {
  id: id(),
  bodyCiphertext: bytes().notNull(),
  bodyKeyId: text().notNull(),
})
