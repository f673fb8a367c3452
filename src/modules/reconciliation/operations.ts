import type { OperationTexts } from '../../http/operation-text.ts'

export const reconciliationOperations = {
  'admin.list_reconciliations': {
    summary: 'List reconciliations',
    text: 'Every comparison of the books with a statement of a provider, with how much matched.',
  },
  'admin.upload_statement': {
    summary: 'Compare a statement with the books',
    text: 'For a statement that a person has exported from a provider: the answer says how much matched, and the differences are listed. It proves nothing, so nothing is booked, credited or ended by it; the command `reconcile` on the server does that. The same content is compared once.',
    body: 'UploadStatement',
  },
  'admin.list_differences': {
    summary: 'List differences with statements',
    text: 'The differences between the books and a statement, each with its likely reason and what to do. Nothing is booked automatically.',
  },
  'admin.resolve_difference': {
    summary: 'Close a difference with a statement',
    text: 'Records how a person has explained or corrected it. With `accept` it ends the payment as the statement shows; otherwise it moves no money of an account, and a line that was offered as a payment goes to suspense.',
    body: 'ResolveDifference',
  },
  'admin.resolve_differences': {
    summary: 'Close several differences',
    text: 'One note for all of them, as one change: where one is resolved already or unknown, none is closed. Outcomes that they offer are not accepted. Each difference has its own row in the audit log.',
    body: 'ResolveDifferences',
  },
} satisfies OperationTexts
