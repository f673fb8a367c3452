import type { NewEvent } from '../../../events/append.ts'
import type { EventType } from '../../../events/types.ts'
import { presenter } from '../../../http/presenter.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { formatMinor, minor } from '../../../lib/money.ts'
import { unusualAmount } from '../../../policy/payees.ts'
import { presentVerification } from '../../beneficiaries/present.ts'
import { presentWarning, withoutTrace } from '../../policies/present.ts'
import type { Decision } from '../../policies/schema.ts'
import { presentMaker } from '../../present-maker.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { ApprovalContext } from './context.ts'
import { type ApprovalRecord, counts, currentDecisions, type DecisionRow } from './queries.ts'
import { type Approval, BatchSummary, PaymentSummary } from './schema.ts'

const shownPayment = presenter(PaymentSummary)

const presentSummary = ({ payment, beneficiary, grantLabel, firstPayment }: ApprovalRecord): PaymentSummary =>
  shownPayment(payment, {
    beneficiary: {
      id: formatId('beneficiary', beneficiary.id),
      display_name: beneficiary.displayName,
      payment_rail: beneficiary.paymentRail,
      destination_mask: beneficiary.destinationMask,
      first_payment: firstPayment,
    },
    initiated_by: presentMaker({ accountId: payment.initiatorAccountId, grantId: payment.grantId, label: grantLabel }),
    decision: payment.snapshot.decision as Decision,
  })

const shownBatch = presenter(BatchSummary)

const presentBatchSummary = (batch: BatchRow, { grantLabel: label }: ApprovalRecord): NonNullable<Approval['batch']> =>
  shownBatch(batch, { initiated_by: presentMaker({ accountId: batch.initiatorAccountId, grantId: batch.grantId, label }) })

/** A decision ends when it is voided, and when its account decides otherwise. */
const endOf = (decision: DecisionRow, { decisions }: Pick<ApprovalRecord, 'decisions'>): Date | null => {
  const later = decisions.slice(decisions.indexOf(decision) + 1).find(({ accountId }) => accountId === decision.accountId)
  return decision.voidedAt ?? later?.decidedAt ?? null
}

const presentGiven = (decision: DecisionRow, record: ApprovalRecord): Approval['decisions'][number] => ({
  account_id: formatId('account', decision.accountId),
  decision: decision.decision,
  // A mandate is a signature given in advance.
  via: decision.via === 'mandate' ? 'signature' : decision.via,
  reason: decision.reason,
  signer: decision.signer,
  decided_at: isoTime(decision.decidedAt),
  voided_at: isoTimeOrNull(endOf(decision, record)),
})

export const approvalsGiven = (record: Pick<ApprovalRecord, 'approval' | 'decisions'>): number =>
  currentDecisions(record).filter((decision) => decision.decision === 'approve' && counts(record, decision)).length

type PresentedContext = NonNullable<Approval['context']>

/** What an approver should look at first. A batch's signed text counts what is unusual in it. */
const cautionsOf = (
  { approval, payment, firstPayment }: ApprovalRecord,
  context: ApprovalContext,
): PresentedContext['warnings'] => {
  const count = context.mayHaveBeenSent
  const lost = count === 0 ? [] : [{ code: 'may_have_been_sent' as const, payments_count: count }]
  if (approval.batchId !== null) return lost
  const typical = context.payee?.typicalAmountMinor ?? null
  const decided = (payment.snapshot.decision as Decision).warnings
  const isSaid = decided.some(({ code }) => code === 'unusual_amount')
  return [
    ...lost,
    ...decided,
    ...(firstPayment ? [{ code: 'first_payment' as const }] : []),
    ...(isSaid ? [] : unusualAmount(payment.amountMinor, typical).map(presentWarning)),
  ]
}

const presentContext = (record: ApprovalRecord, context: ApprovalContext): PresentedContext => ({
  payee: context.payee && {
    payments_count: context.payee.paymentsCount,
    last_paid_at: isoTimeOrNull(context.payee.lastPaidAt),
    typical_amount_minor: minor(context.payee.typicalAmountMinor),
    verification: presentVerification(record.beneficiary),
  },
  warnings: cautionsOf(record, context),
  available_after_minor: formatMinor(context.availableAfterMinor),
  eligible_approvers: context.eligibleApprovers.map((id) => formatId('account', id)),
})

export const presentApproval = (record: ApprovalRecord, context?: ApprovalContext): Approval => {
  const { approval } = record
  return {
    id: formatId('approval', approval.id),
    status: approval.status,
    payment: approval.batchId ? null : presentSummary(record),
    batch: record.batch && presentBatchSummary(record.batch, record),
    required_approvals: approval.requiredApprovals,
    approvals_given: approvalsGiven(record),
    separation_of_duties: approval.separationOfDuties,
    approval_proof: approval.approvalProof,
    decisions: record.decisions.map((decision) => presentGiven(decision, record)),
    signing: { approve: approval.approveMessage, reject: approval.rejectMessage },
    expires_at: isoTime(approval.expiresAt),
    created_at: isoTime(approval.createdAt),
    ...(context && { context: presentContext(record, context) }),
  }
}

/** As lists have it. */
export const presentListed = (record: ApprovalRecord, context?: ApprovalContext): Approval => {
  const approval = presentApproval(record, context)
  return { ...approval, payment: approval.payment && withoutTrace(approval.payment) }
}

export const approvalEvent = (type: Extract<EventType, `approval.${string}`>, record: ApprovalRecord): NewEvent => {
  const { accountId, workspaceId } = record.payment
  return { type, accountId, workspaceId, data: presentApproval(record) }
}
