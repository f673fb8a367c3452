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
} satisfies OperationTexts
