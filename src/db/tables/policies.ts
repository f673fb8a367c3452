import { sql } from 'drizzle-orm'
import { bigint, boolean, check, date, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { approvalProofs, duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../../lib/policy-answers.ts'
import { creatorColumns } from './accounts.ts'
import { id, idOf, instant, money } from './columns.ts'
import { workspaces } from './workspaces.ts'

export const spendingPolicies = pgTable(
  'spending_policies',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    name: text().notNull(),
    /** Limits the policy to payments by this grant and its descendants. Null: all payments. */
    bindsGrantId: uuid(),
    paymentTypes: text().array().notNull(),
    beneficiaryIds: uuid().array().notNull(),
    perPaymentLimitMinor: money(),
    dailyLimitMinor: money(),
    monthlyLimitMinor: money(),
    approvalThresholdMinor: money(),
    totalLimitMinor: money(),
    /** Start of the total: when a version set a total limit that the previous version lacked. */
    totalCountedSince: instant(),
    /** The only accounts that count as approvers. Null: every member who can decide. */
    approverIds: uuid().array(),
    requiredApprovalCount: integer().notNull(),
    /** Whether the count was derived from the threshold, because the policy sets none. */
    countImplied: boolean().notNull(),
    separationOfDuties: boolean().notNull(),
    approvalProof: text({ enum: approvalProofs }).notNull(),
    /** How far back a payment of the same amount to the same payee is a likely duplicate. Null: the service's default. */
    duplicateWindowSeconds: integer(),
    onDuplicate: text({ enum: duplicateAnswers }),
    /** Null: no rule, so the payment is allowed. In a grant, null means that a person must approve. */
    newPayees: text({ enum: newPayeeAnswers }),
    payeeVerification: text({ enum: payeeVerificationAnswers }),
    version: integer().notNull().default(1),
    /** A pending change that loosens or archives the policy. The next columns have its requester and times. */
    pendingChange: jsonb(),
    pendingChangeBy: uuid(),
    pendingChangeGrantId: uuid(),
    pendingChangeAt: instant(),
    pendingChangeEffectiveAt: instant(),
    /** The complete terms after the change, or the archiving. Null: an older release stored only the change. */
    pendingChangeResult: jsonb(),
    /** The version on which the pending change is based. */
    pendingChangeVersion: integer(),
    /** The message that confirms the change, byte for byte. */
    pendingChangeMessage: text(),
    ...creatorColumns(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    archivedAt: instant(),
  },
  (t) => [
    index('spending_policies_workspace').on(t.workspaceId, t.id),
    index('spending_policies_made_by').on(t.createdByGrantId, t.id).where(sql`${t.createdByGrantId} is not null`),
    index('spending_policies_active').on(t.workspaceId).where(sql`${t.archivedAt} is null`),
    // A payment finds policies for its beneficiary by this index, and reads all other policies of the workspace.
    index('spending_policies_of_one')
      .on(sql`(${t.beneficiaryIds}[1])`)
      .where(sql`${t.archivedAt} is null and cardinality(${t.beneficiaryIds}) = 1`),
    index('spending_policies_of_others')
      .on(t.workspaceId)
      .where(sql`${t.archivedAt} is null and cardinality(${t.beneficiaryIds}) <> 1`),
    index('spending_policies_pending_change')
      .on(t.pendingChangeEffectiveAt)
      .where(sql`${t.pendingChangeEffectiveAt} is not null`),
    check(
      'spending_policies_pending_check',
      sql`num_nulls(${t.pendingChange}, ${t.pendingChangeBy}, ${t.pendingChangeAt}, ${t.pendingChangeEffectiveAt}) in (0, 4)`,
    ),
    check('spending_policies_count_check', sql`${t.requiredApprovalCount} between 0 and 10`),
    check('spending_policies_window_check', sql`${t.duplicateWindowSeconds} between 0 and 604800`),
    check('spending_policies_threshold_check', sql`${t.approvalThresholdMinor} is null or ${t.requiredApprovalCount} > 0`),
  ],
)

/** Every policy version that may have decided a payment. */
export const spendingPolicyVersions = pgTable(
  'spending_policy_versions',
  {
    policyId: idOf(() => spendingPolicies.id).notNull(),
    version: integer().notNull(),
    document: jsonb().notNull(),
    createdBy: uuid().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.policyId, t.version] })],
)

export const counterSubjects = ['policy', 'grant', 'mandate'] as const
export const counterPeriods = ['day', 'month', 'total'] as const

/** The used amount of each limit. Guarded by the lock of the owning ledger account, like the balance. */
export const usageCounters = pgTable(
  'usage_counters',
  {
    subject: text({ enum: counterSubjects }).notNull(),
    subjectId: uuid().notNull(),
    /** The holding account whose payments count. */
    accountId: uuid().notNull(),
    period: text({ enum: counterPeriods }).notNull(),
    /** First local date of the period. 0001-01-01 for a total. */
    periodStart: date({ mode: 'string' }).notNull(),
    usedMinor: money().notNull(),
    payments: bigint({ mode: 'bigint' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.subjectId, t.period, t.periodStart, t.accountId] }),
    check('usage_counters_used_check', sql`${t.usedMinor} >= 0 and ${t.payments} >= 0`),
  ],
)

/**
 * An account's payments of one local day, per payee and for all payees, by requesting grant (zeros: a person). A new or changed
 * policy is seeded from these few rows, not from millions of payments. Guarded by the lock of the owning ledger account.
 */
export const spendingTotals = pgTable(
  'spending_totals',
  {
    workspaceId: uuid().notNull(),
    accountId: uuid().notNull(),
    day: date({ mode: 'string' }).notNull(),
    payeeId: uuid().notNull(),
    grantId: uuid().notNull(),
    rail: text().notNull(),
    paymentType: text().notNull(),
    usedMinor: money().notNull(),
    payments: bigint({ mode: 'bigint' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.payeeId, t.day, t.rail, t.paymentType, t.grantId, t.accountId] }),
    check('spending_totals_used_check', sql`${t.usedMinor} >= 0 and ${t.payments} >= 0`),
  ],
)
