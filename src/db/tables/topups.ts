import { sql } from 'drizzle-orm'
import { check, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { failureCodes } from '../../errors/failures.ts'
import type { DepositInstructions } from '../../lib/deposit-code.ts'
import { topupMethods } from '../../lib/rail-names.ts'
import { topupStatuses } from '../transitions.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, money, packedJson } from './columns.ts'
import { grants } from './grants.ts'
import { workspaces } from './workspaces.ts'

export const topups = pgTable(
  'topups',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    /** The credited account: the holding account of the workspace's balance. */
    accountId: uuid().notNull(),
    status: text({ enum: topupStatuses }).notNull(),
    /** The requested amount. Null for a deposit of any amount. */
    amountMinor: money(),
    /** The amount received by the payment that completed the top-up. */
    receivedMinor: money(),
    currency: text().notNull(),
    method: text({ enum: topupMethods }).notNull(),
    /** The phone that receives the prompt. Null for a deposit. */
    phoneCiphertext: bytes(),
    phoneKeyId: text(),
    phoneMask: text(),
    /** HMAC of the phone number, for counting prompts to one phone without storing its number. */
    phoneFingerprint: bytes(),
    /** The account number to use for paying in. Null for a prompt. */
    depositCode: text(),
    /** Instructions for paying in, from the response at creation. */
    instructions: jsonb().$type<DepositInstructions>(),
    expiresAt: instant().notNull(),
    initiatorAccountId: idOf(() => accounts.id).notNull(),
    grantId: idOf(() => grants.id),
    metadata: jsonb().$type<Record<string, string>>().notNull(),
    /** Idempotency key, body hash and stored response, as for payments. Null without a key. */
    idempotencyKey: text(),
    requestHash: bytes(),
    snapshot: packedJson<unknown>('record'),
    providerReceipt: text(),
    failureCode: text({ enum: failureCodes }),
    failureMessage: text(),
    providerCode: text(),
    /** When to send the prompt. The row serves as its own queue entry. Null: nothing to send, or an attempt is in progress. */
    dispatchDueAt: instant(),
    traceparent: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    completedAt: instant(),
  },
  (t) => [
    index('topups_dispatch').on(t.accountId, t.dispatchDueAt).where(sql`${t.dispatchDueAt} is not null`),
    index('topups_phone').on(t.phoneFingerprint, t.createdAt),
    index('topups_account').on(t.accountId, t.createdAt),
    index('topups_initiator').on(t.initiatorAccountId, t.createdAt),
    index('topups_workspace').on(t.workspaceId, t.id),
    index('topups_open').on(t.expiresAt).where(sql`${t.status} = 'pending'`),
    uniqueIndex('topups_idempotency_key')
      .on(t.workspaceId, t.idempotencyKey, t.accountId)
      .where(sql`${t.idempotencyKey} is not null`),
    check('topups_key_check', sql`num_nonnulls(${t.idempotencyKey}, ${t.requestHash}, ${t.snapshot}) in (0, 3)`),
    uniqueIndex('topups_receipt_key').on(t.method, t.providerReceipt),
    uniqueIndex('topups_deposit_code_key').on(t.depositCode),
    check('topups_amount_check', sql`${t.amountMinor} > 0 and ${t.receivedMinor} > 0`),
    check('topups_received_check', sql`(${t.receivedMinor} is null) = (${t.status} <> 'succeeded')`),
    check(
      'topups_method_check',
      sql`case when ${t.depositCode} is null then num_nulls(${t.amountMinor}, ${t.phoneCiphertext}, ${t.phoneKeyId}, ${t.phoneMask}, ${t.phoneFingerprint}) = 0 and ${t.instructions} is null
        else ${t.instructions} is not null and num_nonnulls(${t.phoneCiphertext}, ${t.phoneKeyId}, ${t.phoneMask}, ${t.phoneFingerprint}, ${t.dispatchDueAt}) = 0 end`,
    ),
    check('topups_dispatch_check', sql`${t.dispatchDueAt} is null or ${t.status} = 'pending'`),
  ],
)
