import type { Schemas } from '../../api/types.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { countWords } from '../../lib/list-words.ts'

type Approval = Schemas['Approval']
export type Choice = 'approve' | 'reject'

/** "KES 23,499 to Savannah Supplies": what a decision is about, wherever it is named. */
export const subjectWords = (approval: Pick<Approval, 'payment' | 'batch'>): string => approvalSubject(approval).words

/** The result of a decision, from the service's answer: the first of two approvals sends nothing yet. */
export const decidedWords = (approval: Approval): string => {
  if (approval.status === 'approved') return `Approved: ${subjectWords(approval)} is on its way`
  if (approval.status === 'rejected') return `Rejected: ${subjectWords(approval)} won’t be sent`
  return `Approval recorded: ${approval.approvals_given} of ${countWords(approval.required_approvals, 'approval')}`
}
