import type { Schemas } from '../../../client/src/route-types.ts'
import { isHeadline } from '../../../src/lib/approval-facts.ts'
import { t } from './language.ts'
import { typeLabel } from './rails.ts'
import { decisionReason } from './rule-words.ts'
import { batchTitle, feeWords, shortMoney } from './words.ts'

type Approval = Schemas['Approval']

/** The subject of an approval, a payment or a whole batch, as lists and dialogs show it. */
export type ApprovalSubject = {
  workspaceId: string
  amountMinor: string
  /** Fee with the total; null without a fee. */
  fee: string | null
  currency: string
  title: string
  mask: string | null
  purpose: string
  note: string | null
  reason: string
  /** Execution time while scheduled: no money is held before then. */
  sentAt: string | null
  isFirstPayment: boolean
  /** Number of payments decided together. */
  count: number
  initiatedBy: Schemas['PaymentSummary']['initiated_by']
  /** "KES 23,499 to Savannah Supplies" */
  words: string
}

const sentAtOf = ({
  status,
  execute_at: at = null,
}: {
  status: string
  execute_at?: string | null | undefined
}): string | null => (status === 'scheduled' ? at : null)

const ofPayment = (payment: Schemas['PaymentSummary']): ApprovalSubject => ({
  workspaceId: payment.workspace_id,
  amountMinor: payment.amount_minor,
  fee: feeWords(payment.amount_minor, payment.fee_minor, payment.currency),
  currency: payment.currency,
  title: payment.beneficiary.display_name,
  mask: payment.beneficiary.destination_mask,
  purpose: payment.narrative ?? typeLabel(payment.payment_type),
  note: payment.narrative,
  reason: decisionReason(payment.decision),
  sentAt: sentAtOf(payment),
  isFirstPayment: payment.beneficiary.first_payment,
  count: 1,
  initiatedBy: payment.initiated_by,
  words: t('to_payee', {
    amount: shortMoney(payment.amount_minor, payment.currency),
    payee: payment.beneficiary.display_name,
  }),
})

const ofBatch = (batch: Schemas['PaymentBatchSummary']): ApprovalSubject => {
  const count = t('payments', { count: batch.items_count })
  return {
    workspaceId: batch.workspace_id,
    amountMinor: batch.total_minor,
    fee: feeWords(batch.total_minor, batch.fees_minor, batch.currency),
    currency: batch.currency,
    title: batchTitle(batch),
    mask: null,
    purpose: count,
    note: count,
    reason: t('list_reason'),
    sentAt: sentAtOf(batch),
    isFirstPayment: false,
    count: batch.items_count,
    initiatedBy: batch.initiated_by,
    words: t('in_all', { payments: count, amount: shortMoney(batch.total_minor, batch.currency) }),
  }
}

/** Whether a decision counts. A rejection always counts; an approval counts only with the required signature, if any. */
const isCounted = (
  { approval_proof: proof }: Pick<Approval, 'approval_proof'>,
  { decision, via }: Pick<Approval['decisions'][number], 'decision' | 'via'>,
): boolean => decision === 'reject' || proof === 'any' || via !== 'credential'

export const approvalSubject = ({ payment, batch }: Pick<Approval, 'payment' | 'batch'>): ApprovalSubject => {
  if (payment) return ofPayment(payment)
  if (batch) return ofBatch(batch)
  throw new Error('an approval is about a payment or a batch')
}

export type Choice = Approval['decisions'][number]['decision']

/** The account's own decision, if it counts. */
export const ownDecision = (approval: Approval, accountId: string): Choice | undefined =>
  approval.decisions.find(
    (decision) => decision.account_id === accountId && decision.voided_at === null && isCounted(approval, decision),
  )?.decision

/** Whether separation of duties excludes the account, because it requested the payment. */
export const isExcludedRequester = (approval: Approval, accountId: string): boolean =>
  approval.separation_of_duties && approvalSubject(approval).initiatedBy.account_id === accountId

/** "KES 23,499 to Savannah Supplies": the subject of a decision, wherever a page names it. */
export const subjectWords = (approval: Pick<Approval, 'payment' | 'batch'>): string => approvalSubject(approval).words

/** Facts that an approver must see first. A decided approval has none. */
export const factsToSee = ({ status, facts }: Pick<Approval, 'status' | 'facts'>): Approval['facts'] =>
  status === 'pending' ? facts : []

const opened = new Set<string>()

/** Records that a person has opened the approval's page. */
export const markOpened = (id: string): void => void opened.add(id)

/** Whether an approval needs a closer look: a dangerous or unusual fact, or a batch, whose payments a row does not show. */
export const needsOpening = (approval: Pick<Approval, 'status' | 'facts' | 'batch'>): boolean =>
  approval.batch !== null || factsToSee(approval).some(isHeadline)

/** Whether bulk approval is possible: without a required signature, and opened first if it needs a closer look. */
export const canApproveInBulk = (approval: Approval): boolean =>
  approval.approval_proof === 'any' && (!needsOpening(approval) || opened.has(approval.id))
