import type { OperationTexts } from '../../http/operation-text.ts'

export const exceptionsOperations = {
  'admin.create_adjustment': {
    summary: 'Request a correction of a balance',
    text: 'A ledger adjustment with its reason. Above an amount a second administrator must confirm it. An administrator never adjusts their own account.',
    body: 'CreateAdjustment',
  },
  'admin.list_adjustments': {
    summary: 'List adjustments',
    text: 'Those that were posted, and those that wait for a second administrator.',
  },
  'admin.get_adjustment': { summary: 'Read an adjustment', text: 'Who created it, why, and who decided.' },
  'admin.confirm_adjustment': {
    summary: 'Confirm an adjustment',
    text: 'Posts it. Only another administrator than the one who created it can.',
  },
  'admin.reject_adjustment': {
    summary: 'Reject an adjustment',
    text: 'Nothing moves. The reason is for the audit log.',
    body: 'RejectAdjustment',
  },
  'admin.list_suspense': {
    summary: 'List money in suspense',
    text: 'Money that a provider moved and that could not be booked, with what it seems to be about. A person must resolve each.',
  },
  'admin.resolve_suspense': {
    summary: 'Resolve money in suspense',
    text: 'Records the result: an adjustment gave the money to an account, the provider reversed it, or it was explained. The note is for the audit log. Booked money that was not adjusted counts for what one administrator may move alone in a day: beyond it the answer is 202, and the item stays open until a second administrator sends the same outcome.',
    body: 'ResolveSuspense',
  },
  'admin.resolve_suspense_items': {
    summary: 'Resolve several items of suspense',
    text: 'One result and one note for all of them, as one change: where one is resolved already or unknown, none is resolved. Items that need a second administrator stay open with their `proposal` (202). Each item has its own row in the audit log.',
    body: 'ResolveSuspenseItems',
  },
  'admin.assign_suspense': {
    summary: 'Give money in suspense to its account',
    text: 'For a deposit under a reference that nothing here has, once the sender is known: by `account_id`, or by the `topup_id` that the payer meant, which it ends. Never to the administrator, and above the sum that needs a second administrator only by an adjustment.',
    body: 'AssignSuspense',
  },
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
