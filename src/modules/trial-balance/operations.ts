import type { OperationTexts } from '../../http/operation-text.ts'

export const trialBalanceOperations = {
  'admin.trial_balance': {
    summary: 'Read the trial balance',
    text: 'Every ledger account with its debits and credits, which are equal in total.',
  },
} satisfies OperationTexts
