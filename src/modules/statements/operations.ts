import type { OperationTexts } from '../../http/operation-text.ts'

export const statementsOperations = {
  'accounts.statement': {
    summary: 'Read a statement of the account',
    text: 'For accounting: what was booked between two dates in the time zone of the workspace, oldest first, with the balances before and after, and sums by payee and by type. The opening balance of a statement is the closing balance of the one before. With `Accept: text/csv` it is whole, with amounts in major units and local dates.',
  },
  'workspaces.statement': {
    summary: 'Read a statement of the workspace',
    text: 'The payments of the workspace and what came back of them between two dates, oldest first, with sums by payee. The balances of the account that pays stand in its own statement.',
  },
} satisfies OperationTexts
