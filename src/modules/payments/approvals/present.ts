import type { NewEvent } from '../../../events/append.ts'
import type { EventType } from '../../../events/types.ts'
import { presenter } from '../../../http/presenter.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { withoutTrace } from '../../policies/present.ts'
import type { Decision } from '../../policies/schema.ts'
import { presentMaker } from '../../present-maker.ts'
import type { BatchRow } from '../batch/queries.ts'
import { type ApprovalRecord, counts, currentDecisions, type DecisionRow } from './queries.ts'
import { Approval, BatchSummary, PaymentSummary } from './schema.ts'

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

const shownApproval = presenter(Approval)

export const presentApproval = (record: ApprovalRecord, context?: Approval['context']): Approval =>
  shownApproval(record.approval, {
    payment: record.approval.batchId ? null : presentSummary(record),
    batch: record.batch && presentBatchSummary(record.batch, record),
    approvals_given: currentDecisions(record).filter((given) => given.decision === 'approve' && counts(record, given)).length,
    decisions: record.decisions.map((decision) => presentGiven(decision, record)),
    signing: { approve: record.approval.approveMessage, reject: record.approval.rejectMessage },
    ...(context && { context }),
  })

/** As lists have it. */
export const presentListed = (record: ApprovalRecord, context?: Approval['context']): Approval => {
  const approval = presentApproval(record, context)
  return { ...approval, payment: approval.payment && withoutTrace(approval.payment) }
}

export const approvalEvent = (type: Extract<EventType, `approval.${string}`>, record: ApprovalRecord): NewEvent => {
  const { accountId, workspaceId } = record.payment
  return { type, accountId, workspaceId, data: presentApproval(record) }
}
