import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { shortMoney } from '../../lib/money.ts'

type Approval = Schemas['Approval']
export type Choice = 'approve' | 'reject'

/** "KES 23,499 to Savannah Supplies": what a decision is about, wherever it is named. */
export const subjectWords = ({ payment }: Pick<Approval, 'payment'>): string =>
  `${shortMoney(payment.amount_minor, payment.currency)} to ${payment.beneficiary.display_name}`

/** The result of a decision, from the service's answer: the first of two approvals sends nothing yet. */
export const decidedWords = (approval: Approval): string => {
  if (approval.status === 'approved') return `Approved: ${subjectWords(approval)} is on its way`
  if (approval.status === 'rejected') return `Rejected: ${subjectWords(approval)} won’t be sent`
  return `Approval recorded: ${approval.approvals_given} of ${countWords(approval.required_approvals, 'approval')}`
}
