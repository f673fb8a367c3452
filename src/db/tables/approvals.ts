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
    /** The account whose money is paid, as in every row that follows from a payment: an owner's rows can be placed together. */
    accountId: uuid().notNull(),
    /** For a batch its first item: all items have the same requester and the same paying account. */
    paymentId: idOf(() => payments.id).notNull(),
    batchId: idOf(() => paymentBatches.id),
    status: text({ enum: approvalStatuses }).notNull(),
    requiredApprovals: integer().notNull(),
    separationOfDuties: boolean().notNull(),
    /** `signature`: only approvals that a passkey or a wallet signed count. */
    approvalProof: text({ enum: approvalProofs }).notNull(),
    /** The grant that the request came from: its own, or the one that linked its session's sign-in method. It may not decide the approval. */
    initiatingGrantId: uuid(),
    policyVersions: jsonb().$type<{ id: string; version: number }[]>().notNull(),
    /** As the text that is signed names the beneficiary: a later change of its name does not change what was asked. */
    beneficiaryName: text().notNull(),
    /** The messages that are signed: they are returned and verified byte for byte. */
    approveMessage: text().notNull(),
    rejectMessage: text().notNull(),
    /** Readers wait until then for a name check that was under way when the text was made. */
    nameAwaitedUntil: instant(),
    /** The form of the text; null: that of 0.3.0. */
    textVersion: integer(),
    /** What the text warns of, by type: what every page and notification shows. Null: made by 0.3.0. */
    facts: jsonb().$type<Fact[]>(),
    /** When the text was made again, because a name at the rail had changed. Null: never. */
    renewedAt: instant(),
    /** When notices of the approval (Web Push) are due to be sent or taken back. Null: none are due. */
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
    /** The account whose money is paid; `accountId` is the account that decides. */
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
    // An assertion of a passkey counts once: it cannot be used again after its decision was voided.
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

/** What a decision has lost: its account's right to decide, the wallet, passkey or mandate behind it, or the text that it was given on. */
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
