import { sql } from 'drizzle-orm'
import { check, foreignKey, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { duplicateAnswers, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, money, oneOf, originSession } from './columns.ts'
import { workspaces } from './workspaces.ts'

export const grantKinds = ['api_key', 'oauth'] as const

/** The rights of a key or client, with their limits. */
export const grants = pgTable(
  'grants',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    kind: text({ enum: grantKinds }).notNull(),
    label: text().notNull(),
    permissions: text().array().notNull(),
    parentGrantId: uuid(),
    /** Root first, parent last. Empty for a root. Chains are read without recursion. */
    ancestorIds: uuid().array().notNull(),
    /** The grant that linked the creating session's sign-in method. This grant ends with it, but is not its descendant. */
    derivedFromGrantId: uuid(),
    originSessionId: originSession(),
    perPaymentLimitMinor: money(),
    dailyLimitMinor: money(),
    monthlyLimitMinor: money(),
    totalLimitMinor: money(),
    /** Earlier payments are counted in the total. Null: the total has never been needed. */
    totalSeededAt: instant(),
    approvalThresholdMinor: money(),
    paymentTypes: text().array(),
    beneficiaryIds: uuid().array(),
    /** Null: a person must approve a payment to an unconfirmed payee. In a policy, null means no such rule. */
    newPayees: text({ enum: newPayeeAnswers }),
    /** Null: no rule of this grant about likely duplicates. */
    onDuplicate: text({ enum: duplicateAnswers }),
    frozenAt: instant(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
    expiresAt: instant(),
    revokedAt: instant(),
  },
  (t) => [
    foreignKey({ columns: [t.parentGrantId], foreignColumns: [t.id], name: 'grants_parent_fk' }),
    foreignKey({ columns: [t.derivedFromGrantId], foreignColumns: [t.id], name: 'grants_derived_from_fk' }),
    index('grants_derived_from').on(t.derivedFromGrantId).where(sql`${t.derivedFromGrantId} is not null`),
    index('grants_account').on(t.accountId, t.id),
    index('grants_workspace').on(t.workspaceId, t.id),
    index('grants_due').on(t.expiresAt).where(sql`${t.revokedAt} is null and ${t.expiresAt} is not null`),
    index('grants_root').on(sql`(${t.ancestorIds}[1])`, t.id).where(sql`${t.ancestorIds}[1] is not null`),
    index('grants_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
    check('grants_kind_check', oneOf(t.kind, grantKinds)),
    check('grants_new_payees_check', sql`${t.newPayees} is null or ${oneOf(t.newPayees, newPayeeAnswers)}`),
    check('grants_on_duplicate_check', sql`${t.onDuplicate} is null or ${oneOf(t.onDuplicate, duplicateAnswers)}`),
    check('grants_parent_check', sql`(${t.parentGrantId} is null) = (cardinality(${t.ancestorIds}) = 0)`),
  ],
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    grantId: idOf(() => grants.id).notNull(),
    originSessionId: originSession(),
    name: text().notNull(),
    /** The first hex digits of the secret: they find the row and prove nothing. */
    lookup: text().notNull(),
    salt: bytes().notNull(),
    hash: bytes().notNull(),
    lastFour: text().notNull(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
    expiresAt: instant(),
    /** A future time while a rotated key overlaps with its successor. */
    revokedAt: instant(),
  },
  (t) => [
    index('api_keys_lookup').on(t.lookup),
    uniqueIndex('api_keys_hash_key').on(t.hash),
    index('api_keys_account').on(t.accountId, t.id),
    index('api_keys_grant').on(t.grantId),
    index('api_keys_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
  ],
)
