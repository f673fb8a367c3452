import type { Schemas } from '../api/types.ts'
import { decisionReason } from './decision-words.ts'
import { countWords } from './list-words.ts'
import { shortMoney } from './money.ts'
import { typeLabel } from './rails.ts'

type Approval = Schemas['Approval']

/** What an approval decides, one payment or a whole batch, as lists and dialogs show it. */
export type ApprovalSubject = {
  workspaceId: string
  amountMinor: string
  currency: string
  title: string
  mask: string | null
  /** What it is for. */
  purpose: string
  note: string | null
  reason: string
  isFirstPayment: boolean
  initiatedBy: Schemas['PaymentSummary']['initiated_by']
  /** "KES 23,499 to Savannah Supplies" */
  words: string
}

const ofPayment = (payment: Schemas['PaymentSummary']): ApprovalSubject => ({
  workspaceId: payment.workspace_id,
  amountMinor: payment.amount_minor,
  currency: payment.currency,
  title: payment.beneficiary.display_name,
  mask: payment.beneficiary.destination_mask,
  purpose: payment.narrative ?? typeLabel(payment.payment_type),
  note: payment.narrative,
  reason: decisionReason(payment.decision),
  isFirstPayment: payment.beneficiary.first_payment,
  initiatedBy: payment.initiated_by,
  words: `${shortMoney(payment.amount_minor, payment.currency)} to ${payment.beneficiary.display_name}`,
})

const ofBatch = (batch: Schemas['PaymentBatchSummary']): ApprovalSubject => {
  const count = countWords(batch.items_count, 'payment')
  return {
    workspaceId: batch.workspace_id,
    amountMinor: batch.total_minor,
    currency: batch.currency,
    title: batch.name ?? `List of ${count}`,
    mask: null,
    purpose: count,
    note: count,
    reason: 'The payments of a list are decided together.',
    isFirstPayment: false,
    initiatedBy: batch.initiated_by,
    words: `${count} of ${shortMoney(batch.total_minor, batch.currency)} in all`,
  }
}

/** Whether a decision counts: a rejection always, an approval only if it is signed where signatures are asked for. */
export const counts = (
  { approval_proof: proof }: Pick<Approval, 'approval_proof'>,
  { decision, via }: Pick<Approval['decisions'][number], 'decision' | 'via'>,
): boolean => decision === 'reject' || proof === 'any' || via !== 'credential'

export const approvalSubject = ({ payment, batch }: Pick<Approval, 'payment' | 'batch'>): ApprovalSubject => {
  if (payment) return ofPayment(payment)
  if (batch) return ofBatch(batch)
  throw new Error('an approval is about a payment or a batch')
}

export type Choice = Approval['decisions'][number]['decision']

/** "KES 23,499 to Savannah Supplies": what a decision is about, wherever it is named. */
export const subjectWords = (approval: Pick<Approval, 'payment' | 'batch'>): string => approvalSubject(approval).words

/** The result of a decision, from the service's answer: the first of two approvals sends nothing yet. */
export const decidedWords = (approval: Approval): string => {
  if (approval.status === 'approved') return `Approved: ${subjectWords(approval)} is on its way`
  if (approval.status === 'rejected') return `Rejected: ${subjectWords(approval)} won’t be sent`
  return `Approval recorded: ${approval.approvals_given} of ${countWords(approval.required_approvals, 'approval')}`
}
