import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, json, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, id, instant, noneOf, packedJson, transactionId } from './columns.ts'

/** Event types that occur with every payment. Excluded from the indexes by type and action, which then cost a payment nothing. */
export const frequentEventTypes = ['balance.updated', 'payment.created', 'payment.processing', 'payment.succeeded'] as const
export const frequentActions = ['payment.create', 'payment.processing', 'payment.succeeded'] as const

export const events = pgTable(
  'events',
  {
    id: id(),
    transaction: transactionId().notNull().default(sql`pg_current_xact_id()`),
    type: text().notNull(),
    accountId: uuid().notNull(),
    workspaceId: uuid(),
    /** The resource as the API returned it. For a payment: its differences from the snapshot (null at creation), or all of it. */
    data: json(),
    paymentId: uuid(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('events_order').on(t.transaction, t.id),
    index('events_workspace').on(t.workspaceId, t.transaction, t.id),
    // Events with a workspace are found through the workspace.
    index('events_account').on(t.accountId, t.transaction, t.id).where(sql`${t.workspaceId} is null`),
    // Indexed by owner: the workspace, or the account of an event without a workspace.
    index('events_rare')
      .on(sql`coalesce(${t.workspaceId}, ${t.accountId})`, t.type, t.transaction, t.id)
      .where(noneOf(t.type, frequentEventTypes)),
    check('events_data_check', sql`num_nonnulls(${t.data}, ${t.paymentId}) > 0`),
  ],
)

/** The log of all actions, with actor and origin. Append-only. A job later seals the rows. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    transaction: transactionId().notNull().default(sql`pg_current_xact_id()`),
    at: instant().notNull(),
    action: text().notNull(),
    accountId: uuid(),
    credentialKind: text(),
    credentialId: uuid(),
    grantId: uuid(),
    workspaceId: uuid(),
    subjectType: text(),
    subjectId: uuid(),
    before: json(),
    after: json(),
    /** The inputs of a payment's decision, with which it can be repeated. Read only for receipts, never for lists. */
    inputs: packedJson<unknown>('inputs'),
    ip: text(),
    userAgent: text(),
    requestId: text(),
  },
  (t) => [
    // The id is omitted, so that rows of one transaction or subject share an index entry. They are few, and sorted when read.
    index('audit_log_order').on(t.transaction),
    index('audit_log_subject').on(t.subjectId),
    index('audit_log_workspace').on(t.workspaceId, t.id),
    index('audit_log_rare').on(t.workspaceId, t.action, t.id).where(noneOf(t.action, frequentActions)),
    // For administrators, across workspaces. Uses an expression, so that the planner never picks it for the log of one workspace.
    index('audit_log_actions').on(sql`lower(${t.action})`, t.id).where(noneOf(t.action, frequentActions)),
    // Actions of a provider or a timer have no account.
    index('audit_log_account').on(t.accountId, t.id).where(sql`${t.accountId} is not null`),
  ],
)

/** Open event streams of all processes. A slot expires unless it is renewed. The table keeps its name of 0.3.0. */
export const streamSlots = pgTable(
  'stream_places',
  {
    id: id(),
    accountId: uuid().notNull(),
    /** The root grant of the reader. Null for a person. */
    rootGrantId: uuid(),
    renewedAt: instant().notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('stream_places_account').on(t.accountId)],
)

/** A seal over a batch of committed audit rows. Each seal is a leaf of the Merkle tree over all seals. */
export const auditSeals = pgTable(
  'audit_seals',
  {
    sequence: bigint({ mode: 'number' }).primaryKey(),
    throughTransaction: transactionId().notNull(),
    throughId: uuid().notNull(),
    rows: integer().notNull(),
    /** The Merkle root over the seal's rows. `digest` is the root over all seals up to this one. */
    rowsRoot: bytes().notNull(),
    digest: bytes().notNull(),
    /** A MAC of the digest, so that write access to the table is not enough to forge a seal. */
    hash: bytes().notNull(),
    /** The key of the MAC, one of TOKEN_SECRETS. */
    keyId: text().notNull(),
    sealedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('audit_seals_hash_key').on(t.hash),
    uniqueIndex('audit_seals_through').on(t.throughTransaction, t.throughId),
  ],
)

/** The complete nodes of the tree over all seals, from which proofs are built. A node at level n covers 2^n seals. */
export const auditSealNodes = pgTable(
  'audit_seal_nodes',
  { level: integer().notNull(), place: bigint({ mode: 'number' }).notNull(), hash: bytes().notNull() },
  (t) => [primaryKey({ columns: [t.level, t.place] })],
)

/** Public keys of RECEIPT_KEYS that may have signed. They remain published forever, with their times of use. */
export const signingKeys = pgTable('signing_keys', {
  id: text().primaryKey(),
  /** Ed25519, 32 bytes. */
  publicKey: bytes().notNull(),
  createdAt: instant().notNull(),
  retiredAt: instant(),
})

/** The stored response for an idempotency key, committed with its effect. Money operations store the key in their own row. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** SHA-256 over account, grant, workspace, method, path and idempotency key. */
    scope: bytes().notNull(),
    bodyHash: bytes().notNull(),
    status: integer().notNull(),
    response: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope] }), index('idempotency_keys_age').on(t.createdAt)],
)
