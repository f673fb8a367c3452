import { sql } from 'drizzle-orm'
import { bigint, boolean, check, date, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { approvalProofs, duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../../lib/policy-answers.ts'
import { makerColumns } from './accounts.ts'
import { id, idOf, instant, money } from './columns.ts'
import { workspaces } from './workspaces.ts'

export const spendingPolicies = pgTable(
  'spending_policies',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    name: text().notNull(),
    /** The policy applies only to payments by this grant and those below it; null: to all. */
    bindsGrantId: uuid(),
    paymentTypes: text().array().notNull(),
    beneficiaryIds: uuid().array().notNull(),
    perPaymentLimitMinor: money(),
    dailyLimitMinor: money(),
    monthlyLimitMinor: money(),
    approvalThresholdMinor: money(),
    totalLimitMinor: money(),
    /** Since when the total is counted: when a version first set it after it was last clear. */
    totalCountedSince: instant(),
    /** Only these accounts count as approvers. Null: every member who may decide. */
    approverIds: uuid().array(),
    requiredApprovalCount: integer().notNull(),
    /** The count was derived from the threshold: the policy does not name one. */
    countImplied: boolean().notNull(),
    separationOfDuties: boolean().notNull(),
    approvalProof: text({ enum: approvalProofs }).notNull(),
    /** How far back an earlier payment of the same amount to the same payee counts as a likely duplicate; null: the deployment's window. */
    duplicateWindowSeconds: integer(),
    onDuplicate: text({ enum: duplicateAnswers }),
    /** Null: no rule, so such a payment is allowed. In a grant, null asks a person. */
    newPayees: text({ enum: newPayeeAnswers }),
    payeeVerification: text({ enum: payeeVerificationAnswers }),
    version: integer().notNull().default(1),
    /** A loosening that waits: the fields that were asked for, or that the policy is archived. Who asked and the times are in the next columns. */
    pendingChange: jsonb(),
    pendingChangeBy: uuid(),
    pendingChangeGrantId: uuid(),
    pendingChangeAt: instant(),
    pendingChangeEffectiveAt: instant(),
    /** The terms that result, whole, or that the policy is archived. Null: an older release stored the change alone. */
    pendingChangeResult: jsonb(),
    /** The version that the waiting change was laid over. */
    pendingChangeVersion: integer(),
    /** The text that confirms it, byte for byte. */
    pendingChangeMessage: text(),
    ...makerColumns(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    archivedAt: instant(),
  },
  (t) => [
    index('spending_policies_workspace').on(t.workspaceId, t.id),
    index('spending_policies_made_by').on(t.createdByGrantId, t.id).where(sql`${t.createdByGrantId} is not null`),
    index('spending_policies_active').on(t.workspaceId).where(sql`${t.archivedAt} is null`),
    // A payment reads the policies that name its beneficiary alone by that beneficiary, and all others of the workspace.
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

/** Every version of a policy with which a payment may have been decided. */
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

/** How much of a limit is used. Guarded by the owning ledger account's lock, like the balance. */
export const usageCounters = pgTable(
  'usage_counters',
  {
    subject: text({ enum: counterSubjects }).notNull(),
    subjectId: uuid().notNull(),
    /** The owning account whose payments it counts. */
    accountId: uuid().notNull(),
    period: text({ enum: counterPeriods }).notNull(),
    /** The first local date of the period; 0001-01-01 for a total. */
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
 * Sums of an owner's payments of one local day: for each payee, and for all together, by the grant that they were made with (zeros: by a person). A
 * new or changed policy is seeded from these few rows: the payments may be millions. Guarded by the owning ledger account's lock.
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
