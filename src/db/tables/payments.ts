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
import { bytes, id, instant, money, oneOf, packedJson } from './columns.ts'

/** How an administrator books money that left for a payment that had failed: charged to the account, or to us. */
export const lateSuccessResolutions = ['charged', 'written_off'] as const

export const payments = pgTable(
  'payments',
  {
    id: id(),
    // No foreign keys: the rows that a payment names are read under its account's lock and never deleted, and each key would lock its row
    // with every payment, a third of what the row costs. `verify` looks for references to rows that do not exist.
    workspaceId: uuid().notNull(),
    /** The workspace's owning account: whose balance pays. */
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    completedAt: instant(),
    /** When it is to be sent: the row itself is the queue entry. Null when it is not to be sent, or an attempt is under way. */
    dispatchDueAt: instant(),
    /** When it is decided and sent; null for at once. */
    executeAt: instant(),
    /** The local day whose limits count it; its month is that day's month. Which counters count it follows from the payment itself. */
    countedDay: date({ mode: 'string' }).notNull(),
    status: text({ enum: paymentStatuses }).notNull(),
    currency: text().notNull(),
    beneficiaryId: uuid().notNull(),
    /** The destination of the beneficiary: limits and the duplicate check follow it. */
    payeeId: uuid().notNull(),
    paymentType: text().notNull(),
    /** ISO 20022 external purpose code: four capitals. */
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
     * The payment as REST returned it when it was created, with its decision: stored once, here. The events of its creation and the stored
     * response of its idempotency key are this text; later events say what was different then.
     */
    snapshot: packedJson<{
      decision: unknown
      beneficiary: { id: string; display_name: string; destination_mask: string }
      initiated_by: { account_id: string; grant_id: string | null; label: string | null }
    }>('record').notNull(),
    /** The payment batch that it is an item of, its place in it from 0, and the text of its leaf in the batch's Merkle tree. */
    batchId: uuid(),
    batchIndex: integer(),
    /** Of a list in CSV: its row in the file, as a spreadsheet numbers it. */
    batchRow: integer(),
    batchLeaf: text(),
    /** The key that the request named. What the provider knows the payment by follows from it, so it is kept for ever. */
    idempotencyKey: text(),
    /** SHA-256 of that request's body. The row is the key's record: its answer is the snapshot. */
    requestHash: bytes(),
    /** Null while nothing was held for it: a scheduled payment has no hold, and counts against no limit. */
    holdTransferId: uuid(),
    /** Of a scheduled payment: the grant behind its request, for an approval that is asked for when it is due. */
    originGrantId: uuid(),
    providerReceipt: text(),
    /** Ours, from the closed list in errors/failures.ts; `providerCode` is the rail's own. */
    failureCode: text({ enum: failureCodes }),
    failureMessage: text(),
    providerCode: text(),
    /** Proof, received after the payment had failed, that the money moved after all. An administrator books it. */
    lateSuccessReceipt: text(),
    lateSuccessAmountMinor: money(),
    lateSuccessAt: instant(),
    lateSuccessResolution: text({ enum: lateSuccessResolutions }),
    lateSuccessResolvedAt: instant(),
    /** The trace of the request that created it (W3C Trace Context), for later work. */
    traceparent: text(),
  },
  (t) => [
    // What is due, by rail and tenant, so that dispatchers can take each tenant in turn.
    index('payments_dispatch').on(t.rail, t.accountId, t.dispatchDueAt).where(sql`${t.dispatchDueAt} is not null`),
    index('payments_late_success').on(t.id).where(sql`${t.lateSuccessAt} is not null and ${t.lateSuccessResolvedAt} is null`),
    index('payments_workspace').on(t.workspaceId, t.id),
    // An amount that a person searches for.
    index('payments_amount').on(t.workspaceId, t.amountMinor),
    index('payments_workspace_status').on(t.workspaceId, t.status, t.id),
    // Of all tenants, for administrators.
    index('payments_rare').on(t.status, t.id).where(oneOf(t.status, rarePaymentStatuses)),
    // What was paid under one reference, to whomever.
    index('payments_reference')
      .on(t.workspaceId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${t.accountReference} is not null`),
    index('payments_beneficiary').on(t.beneficiaryId, t.id),
    // What last reached a payee, and whether anything did: a payee may have many payments that wait for their results.
    index('payments_paid').on(t.payeeId, t.id, t.amountMinor).where(oneOf(t.status, paidPaymentStatuses)),
    // The last payments to one account at a paybill.
    index('payments_paybill_account')
      .on(t.payeeId, sql.raw(referenceKeySql('account_reference')), t.id)
      .where(sql`${oneOf(t.rail, railNames.filter(hasAccounts))} and ${t.accountReference} is not null`),
    // Recent payments to the same payee that look the same: guards against paying twice.
    index('payments_lookalikes').on(t.payeeId, sql.raw(lookalikeHashSql('amount_minor', 'account_reference')), t.createdAt),
    // Those whose outcome is unknown, which no agent repeats.
    index('payments_unknown').on(t.payeeId).where(sql`${t.status} = 'unknown'`),
    // The day's payments to a payee that nobody approved: approval thresholds count them.
    index('payments_unapproved').on(t.payeeId, t.countedDay).where(sql`${t.approvalId} is null and ${t.mandateId} is null`),
    index('payments_approved').on(t.payeeId, t.countedDay).where(sql`${t.approvalId} is not null or ${t.mandateId} is not null`),
    index('payments_mandate').on(t.mandateId).where(sql`${t.mandateId} is not null`),
    index('payments_open').on(t.status, t.updatedAt).where(oneOf(t.status, underWayPaymentStatuses)),
    uniqueIndex('payments_idempotency_key')
      .on(t.workspaceId, t.idempotencyKey, t.accountId)
      .where(sql`${t.idempotencyKey} is not null`),
    uniqueIndex('payments_receipt_key').on(t.rail, t.providerReceipt).where(sql`${t.providerReceipt} is not null`),
    check('payments_key_check', sql`(${t.idempotencyKey} is null) = (${t.requestHash} is null)`),
    // The items of a batch in their order.
    index('payments_batch').on(t.batchId, t.batchIndex).where(sql`${t.batchId} is not null`),
    check('payments_batch_check', sql`num_nulls(${t.batchId}, ${t.batchIndex}, ${t.batchLeaf}) in (0, 3)`),
    index('payments_purpose').on(t.workspaceId, t.purposeCode, t.id).where(sql`${t.purposeCode} is not null`),
    check('payments_purpose_check', sql`${t.purposeCode} ~ '^[A-Z]{4}$'`),
    check('payments_amount_check', sql`${t.amountMinor} > 0`),
    // What is due to be decided.
    index('payments_scheduled').on(t.executeAt).where(sql`${t.status} = 'scheduled'`),
    check(
      'payments_hold_check',
      sql`${t.holdTransferId} is not null or (${t.executeAt} is not null and ${t.status} in ('scheduled', 'failed', 'cancelled'))`,
    ),
    check('payments_dispatch_check', sql`${t.dispatchDueAt} is null or ${t.status} = 'processing'`),
    check('payments_late_success_check', sql`${t.lateSuccessAt} is null or ${t.status} = 'failed'`),
  ],
)

export const attemptKinds = ['payment', 'topup'] as const
/** One send to a rail, committed before the rail is called: later reports of the provider are matched with it. */
export const railAttempts = pgTable(
  'rail_attempts',
  {
    id: id(),
    subjectId: uuid().notNull(),
    /** The owning account of its payment or top-up. */
    accountId: uuid().notNull(),
    amountMinor: money().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    nextCheckAt: instant(),
    /** When the rail was first asked about it. */
    askedAt: instant(),
    /** When the rail was asked last how it ended. */
    checkedAt: instant(),
    /** More than 0 when the names before it belong to another payment or top-up. */
    generation: integer().notNull(),
    /** Counts the sends of the order from 1. */
    send: integer().notNull(),
    checks: integer().notNull().default(0),
    kind: text({ enum: attemptKinds }).notNull(),
    rail: text({ enum: [...railNames, collectionRail] }).notNull(),
    state: text({ enum: attemptStates }).notNull(),
    /** What the provider knows the order by, the same for every send of it. */
    orderId: uuid().notNull(),
    /** 12 digits, as `orderId`: the only name that some rails pass on. */
    reference: text().notNull(),
    /** The journal that names the attempt if it was sent; null before, and where no journal can be written. */
    senderId: uuid(),
    /** A hash of the order as the provider got it. */
    fingerprint: bytes(),
    providerRequest: text(),
    providerConversation: text(),
  },
  (t) => [
    // Every later send of an order carries the names of the first one; no other order does.
    uniqueIndex('rail_attempts_reference_key').on(t.reference).where(sql`${t.send} = 1`),
    index('rail_attempts_subject').on(t.subjectId),
    // Prevents a second send even if the code above has a defect: a second attempt needs proof that the first one was never sent.
    uniqueIndex('rail_attempts_one_live').on(t.subjectId, t.accountId).where(sql`${t.state} <> 'not_sent'`),
    index('rail_attempts_due').on(t.nextCheckAt).where(sql`${t.state} <> 'resolved'`),
    check('rail_attempts_amount_check', sql`${t.amountMinor} > 0`),
  ],
)

/** Every request to the callback listener. What an authentic one said is in `callback_bodies`; of a refused one only its arrival is recorded. */
export const callbackDeliveries = pgTable(
  'callback_deliveries',
  {
    id: id(),
    attemptId: uuid(),
    /** The owning account of its attempt; null where there is no such attempt. */
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
 * The body of an authentic delivery, unchanged, under the delivery's id. Encrypted: it contains phone numbers. In a table of its own,
 * which is divided into months: bodies are most of what a delivery takes, are read once, and leave by whole months.
 */
export const callbackBodies = pgTable('callback_bodies', {
  id: id(),
  bodyCiphertext: bytes().notNull(),
  bodyKeyId: text().notNull(),
})
