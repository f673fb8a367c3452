import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { id, instant } from './columns.ts'
import { payments } from './payments.ts'
import { workspaces } from './workspaces.ts'

export const approvalStatuses = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
export const approvalChoices = ['approve', 'reject'] as const

export const approvals = pgTable(
  'approvals',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id),
    paymentId: uuid()
      .notNull()
      .references(() => payments.id),
    status: text({ enum: approvalStatuses }).notNull(),
    requiredApprovals: integer().notNull(),
    separationOfDuties: boolean().notNull(),
    policyVersions: jsonb().$type<{ id: string; version: number }[]>().notNull(),
    /** The two canonical messages, returned and verified byte for byte. */
    approveMessage: text().notNull(),
    rejectMessage: text().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('approvals_payment_key').on(t.paymentId),
    index('approvals_workspace').on(t.workspaceId, t.status, t.id),
    index('approvals_expiry').on(t.expiresAt).where(sql`${t.status} = 'pending'`),
    check('approvals_required_check', sql`${t.requiredApprovals} > 0`),
  ],
)

export const decisionWays = ['credential', 'signature', 'mandate'] as const

/** One approver counts once. */
export const approvalDecisions = pgTable(
  'approval_decisions',
  {
    id: id(),
    approvalId: uuid()
      .notNull()
      .references(() => approvals.id),
    accountId: uuid()
      .notNull()
      .references(() => accounts.id),
    decision: text({ enum: approvalChoices }).notNull(),
    via: text({ enum: decisionWays }).notNull(),
    reason: text(),
    signer: text(),
    signature: text(),
    message: text(),
    decidedAt: instant().notNull(),
  },
  (t) => [uniqueIndex('approval_decisions_approver_key').on(t.approvalId, t.accountId)],
)
