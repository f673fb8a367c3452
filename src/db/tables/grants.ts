import { sql } from 'drizzle-orm'
import { check, foreignKey, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { duplicateAnswers, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, money, oneOf, originSession } from './columns.ts'
import { workspaces } from './workspaces.ts'

export const grantKinds = ['api_key', 'oauth'] as const

/** The permissions and limits of an API key or OAuth client. */
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
    /** Root first, parent last. Empty for a root. Lets a lineage be read without recursion. */
    ancestorIds: uuid().array().notNull(),
    /** The grant that linked the sign-in method of the creating session. This grant ends with it, but is not its descendant. */
    derivedFromGrantId: uuid(),
    originSessionId: originSession(),
    perPaymentLimitMinor: money(),
    dailyLimitMinor: money(),
    monthlyLimitMinor: money(),
    totalLimitMinor: money(),
    /** When earlier payments were added to the total. Null: the total has never been needed. */
    totalSeededAt: instant(),
    approvalThresholdMinor: money(),
    paymentTypes: text().array(),
    beneficiaryIds: uuid().array(),
    /** Null: a person must approve payments to unconfirmed payees. In a policy, null means that there is no such rule. */
    newPayees: text({ enum: newPayeeAnswers }),
    /** Null: this grant has no rule about likely duplicates. */
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
    /** The first hex digits of the secret, which find the row but do not authenticate. */
    lookup: text().notNull(),
    salt: bytes().notNull(),
    hash: bytes().notNull(),
    lastFour: text().notNull(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
    expiresAt: instant(),
    /** In the future while a rotated key remains valid beside its successor. */
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
