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
    /** The paying account. All rows that belong to a payment have it, so that an owner's rows can be stored together. */
    accountId: uuid().notNull(),
    /** The payment, or the first payment of a batch, in which all have the same requester and paying account. */
    paymentId: idOf(() => payments.id).notNull(),
    batchId: idOf(() => paymentBatches.id),
    status: text({ enum: approvalStatuses }).notNull(),
    requiredApprovals: integer().notNull(),
    separationOfDuties: boolean().notNull(),
    /** `signature`: only approvals signed with a passkey or a wallet count. */
    approvalProof: text({ enum: approvalProofs }).notNull(),
    /** The grant behind the request, or behind the sign-in method of its session. This grant must not decide the approval. */
    initiatingGrantId: uuid(),
    policyVersions: jsonb().$type<{ id: string; version: number }[]>().notNull(),
    /** The beneficiary's name in the signed text. Renaming the beneficiary later does not change what was requested. */
    beneficiaryName: text().notNull(),
    /** The messages to sign, which are returned and verified byte for byte. */
    approveMessage: text().notNull(),
    rejectMessage: text().notNull(),
    /** Until this time, readers wait for a name check that was in progress when the text was created. */
    nameAwaitedUntil: instant(),
    /** Format version of the text. Null: the format of 0.3.0. */
    textVersion: integer(),
    /** The warnings in the text, by type, for pages and notifications. Null: created by 0.3.0. */
    facts: jsonb().$type<Fact[]>(),
    /** When the text was renewed because a registered name changed. Null: never. */
    renewedAt: instant(),
    /** When push notifications (Web Push) of the approval are due to be sent or withdrawn. Null: none are due. */
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
    index('approvals_notice_turns').on(t.accountId, t.noticeDueAt).where(sql`${t.noticeDueAt} is not null`),
    check('approvals_proof_check', oneOf(t.approvalProof, approvalProofs)),
    check('approvals_required_check', sql`${t.requiredApprovals} > 0`),
  ],
)

export const decisionWays = ['credential', 'signature', 'mandate', 'passkey'] as const

/** An account's latest decision counts, unless it was voided. */
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
    /** Not a foreign key: the passkey may be removed, while the decision remains with its proof. */
    passkeyId: uuid(),
    passkeyProof: jsonb().$type<PasskeyProof>(),
    decidedAt: instant().notNull(),
  },
  (t) => [
    index('approval_decisions_approver').on(t.approvalId, t.accountId),
    index('approval_decisions_account').on(t.accountId, t.approvalId),
    // A passkey assertion counts only once, even if its decision was voided.
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

/** Why a decision no longer counts: its account lost the role, wallet, passkey or mandate, or the text changed. */
export const voidReasons = ['approver', 'wallet', 'passkey', 'mandate', 'text'] as const

/** A decision that no longer counts. Voiding is permanent. */
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

/** When a person first opened an approval. */
export const approvalViews = pgTable(
  'approval_views',
  {
    approvalId: idOf(() => approvals.id).notNull(),
    accountId: idOf(() => accounts.id).notNull(),
    openedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.approvalId, t.accountId] })],
)
