import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Fact } from '../../lib/approval-facts.ts'
import type { PasskeyProof } from '../../lib/passkey-proof.ts'
import { approvalProofs } from '../../lib/policy-answers.ts'
import { approvalStatuses } from '../transitions.ts'
import { accounts } from './accounts.ts'
import { id, idOf, instant, oneOf } from './columns.ts'
import { paymentBatches } from './payment-batches.ts'
import { payments } from './payments.ts'
import { workspaces } from './workspaces.ts'

export const approvalChoices = ['approve', 'reject'] as const

export const approvals = pgTable(
  'approvals',
  {
    id: id(),
    workspaceId: idOf(() => workspaces.id).notNull(),
    /** The paying account. Every row that follows from a payment has it, so that an owner's rows can be placed together. */
    accountId: uuid().notNull(),
    /** A batch's first item: all items have the same requester and the same paying account. */
    paymentId: idOf(() => payments.id).notNull(),
    batchId: idOf(() => paymentBatches.id),
    status: text({ enum: approvalStatuses }).notNull(),
    requiredApprovals: integer().notNull(),
    separationOfDuties: boolean().notNull(),
    /** `signature`: only approvals that a passkey or a wallet signed count. */
    approvalProof: text({ enum: approvalProofs }).notNull(),
    /** The grant behind the request: the request's own, or the one that linked its session's sign-in method. This grant cannot decide. */
    initiatingGrantId: uuid(),
    policyVersions: jsonb().$type<{ id: string; version: number }[]>().notNull(),
    /** The beneficiary's name in the signed text: a later rename does not change what was asked. */
    beneficiaryName: text().notNull(),
    /** The messages to sign, returned and verified byte for byte. */
    approveMessage: text().notNull(),
    rejectMessage: text().notNull(),
    /** Until then, readers wait for a name check that was under way when the text was created. */
    nameAwaitedUntil: instant(),
    /** The version of the text's form. Null: that of 0.3.0. */
    textVersion: integer(),
    /** The text's warnings by type, for every page and notification. Null: made by 0.3.0. */
    facts: jsonb().$type<Fact[]>(),
    /** When the text was renewed because a registered name had changed. Null: never. */
    renewedAt: instant(),
    /** When notifications (Web Push) of the approval are due to be sent or withdrawn. Null: none are due. */
    noticeDueAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('approvals_payment_key').on(t.paymentId, t.accountId),
    index('approvals_workspace').on(t.workspaceId, t.id),
    index('approvals_workspace_status').on(t.workspaceId, t.status, t.id),
    index('approvals_expiry').on(t.expiresAt).where(sql`${t.status} = 'pending'`),
    index('approvals_notice_due').on(t.noticeDueAt).where(sql`${t.noticeDueAt} is not null`),
    check('approvals_proof_check', oneOf(t.approvalProof, approvalProofs)),
    check('approvals_required_check', sql`${t.requiredApprovals} > 0`),
  ],
)

export const decisionWays = ['credential', 'signature', 'mandate', 'passkey'] as const

/** The latest decision of an account counts, unless it was voided. */
export const approvalDecisions = pgTable(
  'approval_decisions',
  {
    id: id(),
    approvalId: idOf(() => approvals.id).notNull(),
    /** The paying account. `accountId` is the deciding account. */
    owningAccountId: uuid().notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    decision: text({ enum: approvalChoices }).notNull(),
    via: text({ enum: decisionWays }).notNull(),
    reason: text(),
    signer: text(),
    signature: text(),
    message: text(),
    /** Not a foreign key: the passkey may be removed, and the decision stays with its proof. */
    passkeyId: uuid(),
    passkeyProof: jsonb().$type<PasskeyProof>(),
    decidedAt: instant().notNull(),
  },
  (t) => [
    index('approval_decisions_approver').on(t.approvalId, t.accountId),
    index('approval_decisions_account').on(t.accountId, t.approvalId),
    // A passkey assertion counts once: it cannot be used again after its decision was voided.
    uniqueIndex('approval_decisions_assertion').on(t.accountId, t.passkeyId, t.signature).where(sql`${t.passkeyId} is not null`),
    check('approval_decisions_via_check', oneOf(t.via, decisionWays)),
    check(
      'approval_decisions_proof_check',
      sql`(${t.via} = 'credential') = (${t.signature} is null)
        and (${t.via} = 'credential') = (${t.message} is null)
        and (${t.via} in ('signature', 'mandate')) = (${t.signer} is not null)
        and (${t.via} = 'passkey') = (${t.passkeyId} is not null)
        and (${t.via} = 'passkey') = (${t.passkeyProof} is not null)`,
    ),
  ],
)

/** Why a decision stopped counting: it lost its account's right to decide, its wallet, passkey or mandate, or its text. */
export const voidReasons = ['approver', 'wallet', 'passkey', 'mandate', 'text'] as const

/** A decision that no longer counts. It is voided once, and stays voided. */
export const approvalVoids = pgTable(
  'approval_voids',
  {
    decisionId: idOf(() => approvalDecisions.id).primaryKey(),
    owningAccountId: uuid().notNull(),
    reason: text({ enum: voidReasons }).notNull(),
    voidedAt: instant().notNull(),
  },
  (t) => [check('approval_voids_reason_check', oneOf(t.reason, voidReasons))],
)

/** The time at which a person first opened an approval. */
export const approvalViews = pgTable(
  'approval_views',
  {
    approvalId: idOf(() => approvals.id).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    openedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.approvalId, t.accountId] })],
)
