import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { shortMoney } from '../../lib/money.ts'

type Approval = Schemas['Approval']
export type Choice = 'approve' | 'reject'

/** "KES 23,499 to Savannah Supplies": what a decision is about, wherever it is named. */
export const subjectWords = ({ payment }: Pick<Approval, 'payment'>): string =>
  `${shortMoney(payment.amount_minor, payment.currency)} to ${payment.beneficiary.display_name}`

/** What a decision has done, by what the service answered: one of two approvals sends nothing yet. */
export const decidedWords = (approval: Approval): string => {
  if (approval.status === 'approved') return `Approved: ${subjectWords(approval)} is on its way`
  if (approval.status === 'rejected') return `Rejected: ${subjectWords(approval)} won’t be sent`
  return `Approval recorded: ${approval.approvals_given} of ${countWords(approval.required_approvals, 'approval')}`
}
