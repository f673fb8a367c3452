import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, json, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, id, instant, noneOf, packedJson, transactionId } from './columns.ts'

/** What every payment writes. The indexes by type and by action leave it out, so that they cost a payment nothing. */
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
    /**
     * The resource as REST returned it. Of a payment, what was different from its snapshot (null for its creation), or all of it, with its id. With
     * `paymentId`, an approval may be without what its row and its payment's keep.
     */
    data: json(),
    paymentId: uuid(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('events_order').on(t.transaction, t.id),
    index('events_workspace').on(t.workspaceId, t.transaction, t.id),
    // Events with a workspace are searched by it.
    index('events_account').on(t.accountId, t.transaction, t.id).where(sql`${t.workspaceId} is null`),
    // Keyed by the owner: the workspace, or the account of an event without one.
    index('events_rare')
      .on(sql`coalesce(${t.workspaceId}, ${t.accountId})`, t.type, t.transaction, t.id)
      .where(noneOf(t.type, frequentEventTypes)),
    check('events_data_check', sql`num_nonnulls(${t.data}, ${t.paymentId}) > 0`),
  ],
)

/** Who did what, from where. The table is append-only; a job seals the rows afterwards. */
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
    /** What a payment was decided from, so that it can be decided again. Only receipts read it; no list does. */
    inputs: packedJson<unknown>('inputs'),
    ip: text(),
    userAgent: text(),
    requestId: text(),
  },
  (t) => [
    // Without the id: rows of one transaction, and of one subject, share an entry, and are few enough to be sorted when read.
    index('audit_log_order').on(t.transaction),
    index('audit_log_subject').on(t.subjectId),
    index('audit_log_workspace').on(t.workspaceId, t.id),
    index('audit_log_rare').on(t.workspaceId, t.action, t.id).where(noneOf(t.action, frequentActions)),
    // For administrators, over all workspaces. It is on an expression, so that the planner never uses it for the log of one workspace.
    index('audit_log_actions').on(sql`lower(${t.action})`, t.id).where(noneOf(t.action, frequentActions)),
    // What a provider or a timer caused has no account.
    index('audit_log_account').on(t.accountId, t.id).where(sql`${t.accountId} is not null`),
  ],
)

/** The open streams of all processes. A place that is not renewed becomes free. */
export const streamPlaces = pgTable(
  'stream_places',
  {
    id: id(),
    accountId: uuid().notNull(),
    /** The root of the lineage that reads; null for a person. */
    rootGrantId: uuid(),
    renewedAt: instant().notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('stream_places_account').on(t.accountId)],
)

/** A seal of a batch of committed audit rows: a leaf of the Merkle tree over all seals. */
export const auditSeals = pgTable(
  'audit_seals',
  {
    sequence: bigint({ mode: 'number' }).primaryKey(),
    throughTransaction: transactionId().notNull(),
    throughId: uuid().notNull(),
    rows: integer().notNull(),
    /** The Merkle root over the seal's rows; `digest` is the root over all seals up to this one. */
    rowsRoot: bytes().notNull(),
    digest: bytes().notNull(),
    /** A keyed hash of the digest: an attacker who can only write the table cannot make it. */
    hash: bytes().notNull(),
    /** Which of TOKEN_SECRETS the hash is keyed with. */
    keyId: text().notNull(),
    sealedAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('audit_seals_hash_key').on(t.hash),
    uniqueIndex('audit_seals_through').on(t.throughTransaction, t.throughId),
  ],
)

/** The complete nodes of the tree over all seals, from which proofs are made. A node of a level is over 2^level seals. */
export const auditSealNodes = pgTable(
  'audit_seal_nodes',
  { level: integer().notNull(), place: bigint({ mode: 'number' }).notNull(), hash: bytes().notNull() },
  (t) => [primaryKey({ columns: [t.level, t.place] })],
)

/** The public keys of RECEIPT_KEYS that have signed or may have signed. They are published for ever, with their times. */
export const signingKeys = pgTable('signing_keys', {
  id: text().primaryKey(),
  /** Ed25519, 32 bytes. */
  publicKey: bytes().notNull(),
  createdAt: instant().notNull(),
  retiredAt: instant(),
})

/** The stored answer to a key, written in the transaction of the effect. What moves money has its key on its own row. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** SHA-256 over account, grant, workspace, method, path and the key. */
    scope: bytes().notNull(),
    bodyHash: bytes().notNull(),
    status: integer().notNull(),
    response: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope] }), index('idempotency_keys_age').on(t.createdAt)],
)
