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

/** "KES 23,499 to Savannah Supplies": the subject of a decision, wherever a page names it. */
export const subjectWords = (approval: Pick<Approval, 'payment' | 'batch'>): string => approvalSubject(approval).words

/** Facts that an approver must see first. A decided approval has none. */
export const factsToSee = ({ status, facts }: Pick<Approval, 'status' | 'facts'>): Approval['facts'] =>
  status === 'pending' ? facts : []

const opened = new Set<string>()

/** Records that a person has opened the approval's page. */
export const noteOpened = (id: string): void => void opened.add(id)

/** Whether an approval needs a closer look: a dangerous or unusual fact, or a batch, whose payments a row does not show. */
export const needsOpening = (approval: Pick<Approval, 'status' | 'facts' | 'batch'>): boolean =>
  approval.batch !== null || factsToSee(approval).some(isHeadline)

/** Whether bulk approval is possible: without a required signature, and opened first if it needs a closer look. */
export const fitsBulk = (approval: Approval): boolean =>
  approval.approval_proof === 'any' && (!needsOpening(approval) || opened.has(approval.id))

/** Parts of a signed text: its opening, the lines of the decision, and the last lines, which bind the decision. */
export type SignedText = { opening: string; lines: string[]; binding: string[] }

/** Splits the text at blank lines, without knowing any line by name, so that each line is in one of the parts. */
export const readSignedText = (message: string): SignedText => {
  const [opening = '', ...parts] = message.split(/\n\n+/)
  const binding = parts.length > 1 ? (parts.pop() ?? '') : ''
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
  return { opening, lines: parts.flatMap(linesOf), binding: linesOf(binding) }
}

const textOf = (message: string, label: string): string | undefined =>
  message
    .split('\n')
    .find((line) => line.startsWith(`${label}: `))
    ?.slice(label.length + 2)

const short = (amount: string): string => amount.replace(/\.00$/, '').replace(' ', '\u00a0')

/** "KES 23,499 to Savannah Supplies", "KES 502,899 to 200 people", or the opening of any other text. */
export const titleOfText = (message: string): string => {
  const amount = textOf(message, 'Amount')
  const beneficiary = textOf(message, 'Beneficiary')
  if (amount && beneficiary) return t('to_payee', { amount: short(amount), payee: beneficiary })
  const total = textOf(message, 'Total')
  const payees = textOf(message, 'Payees') ?? textOf(message, 'Payments')
  if (total && payees) return t('to_people', { amount: short(total), count: Number(payees.replaceAll(',', '')) })
  return readSignedText(message).opening
}

/** SHA-256 in hexadecimal, sent to bind a decision to the shown text. Undefined without HTTPS. */
export const digestOfText = async (message: string): Promise<string | undefined> => {
  if (!crypto.subtle) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
