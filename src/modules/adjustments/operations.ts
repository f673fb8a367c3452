import type { OperationTexts } from '../../http/operation-text.ts'

export const adjustmentsOperations = {
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
} satisfies OperationTexts
