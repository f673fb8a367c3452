import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { paymentBatchStatuses } from '../transitions.ts'
import { bytes, changedIn, id, idOf, instant, money, oneOf, packedJson } from './columns.ts'
import { workspaces } from './workspaces.ts'

/** A batch's items are payments: their numbers by status are counted from the payments. */
export const paymentBatches = pgTable(
  'payment_batches',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    accountId: uuid().notNull(),
    status: text({ enum: paymentBatchStatuses }).notNull(),
    name: text(),
    metadata: jsonb().$type<Record<string, string>>().notNull(),
    itemsCount: integer().notNull(),
    totalMinor: money().notNull(),
    feesMinor: money(),
    /** The batch whose items this one repeats. */
    againOf: uuid(),
    currency: text().notNull(),
    /** RFC 6962, over the leaves of all items in their order; hexadecimal. */
    merkleRoot: text().notNull(),
    /** The version of the leaves' contents (lib/merkle.ts). Null: version 1. */
    leafVersion: integer(),
    /** Whether the request declared its likely duplicates as intended. Null: it did not. */
    duplicatesIntended: boolean(),
    approvalId: uuid(),
    /** When its items are decided and sent. Null: at once. */
    executeAt: instant(),
    initiatorAccountId: uuid().notNull(),
    grantId: uuid(),
    /** The batch as REST returned it at creation: the answer to a repeated request with its key. */
    snapshot: packedJson<unknown>('record').notNull(),
    idempotencyKey: text(),
    /** SHA-256 of the request's body. */
    requestHash: bytes(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    changed: changedIn(),
    completedAt: instant(),
  },
  (t) => [
    index('payment_batches_workspace').on(t.workspaceId, t.id),
    index('payment_batches_changed').on(t.workspaceId, t.changed),
    index('payment_batches_status').on(t.workspaceId, t.status, t.id),
    uniqueIndex('payment_batches_idempotency_key')
      .on(t.workspaceId, t.idempotencyKey, t.accountId)
      .where(sql`${t.idempotencyKey} is not null`),
    index('payment_batches_scheduled').on(t.executeAt).where(sql`${t.status} = 'scheduled'`),
    check('payment_batches_key_check', sql`(${t.idempotencyKey} is null) = (${t.requestHash} is null)`),
    check('payment_batches_status_check', oneOf(t.status, paymentBatchStatuses)),
    check('payment_batches_items_check', sql`${t.itemsCount} > 0 and ${t.totalMinor} > 0`),
  ],
)
