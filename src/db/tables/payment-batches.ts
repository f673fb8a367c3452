import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { paymentBatchStatuses } from '../transitions.ts'
import { bytes, changedIn, id, idOf, instant, money, oneOf, packedJson } from './columns.ts'
import { workspaces } from './workspaces.ts'

/** The items of a batch are payments. Counts by status are computed from the payments. */
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
    /** The batch that this batch repeats. */
    againOf: uuid(),
    currency: text().notNull(),
    /** Merkle root (RFC 6962) over the leaves of all items in order, in hexadecimal. */
    merkleRoot: text().notNull(),
    /** Version of the leaf format (lib/merkle.ts). Null: version 1. */
    leafVersion: integer(),
    /** Whether the request declared likely duplicates as intended. Null: not declared. */
    duplicatesIntended: boolean(),
    approvalId: uuid(),
    /** When the payments are decided and sent. Null: immediately. */
    executeAt: instant(),
    initiatorAccountId: uuid().notNull(),
    grantId: uuid(),
    /** The batch as the API returned it at creation, for a repeated request with the same idempotency key. */
    snapshot: packedJson<unknown>('record').notNull(),
    idempotencyKey: text(),
    /** SHA-256 of the request body. */
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
