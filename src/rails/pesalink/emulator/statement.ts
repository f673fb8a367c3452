import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import type { StatementRows } from '../../../dev/sandbox/emulator.ts'
import { dashedTime, periodText, shillings } from '../../../dev/sandbox/format.ts'

const columns = ['Reference', 'Date', 'Narrative', 'Status', 'Credit', 'Debit', 'Transaction ID']

const line = (moved: Movement): string[] => {
  const { key, receipt, at, reference } = moved
  const amount = shillings(moved.amountMinor)
  const isIn = isIncoming(moved)
  return [key, dashedTime(at), reference, 'Success', isIn ? amount : '', isIn ? '' : amount, receipt]
}

/** The bank charges for a transfer below it, as a transaction of its own. */
const withCharge = (moved: Movement): string[][] =>
  isIncoming(moved)
    ? [line(moved)]
    : [line(moved), ['', dashedTime(moved.at), 'PESALINK CHARGE', 'Success', '', '35.00', `CH${moved.receipt.slice(2)}`]]

/** The rows of the bank's statement: of one account, with what stands above the columns, or of all. */
export const statement: StatementRows = (movements, account) => [
  ...(account === undefined ? [] : [[`Account Number: ${account}`], [`Statement Period: ${periodText(movements)}`], []]),
  columns,
  ...movements.flatMap(withCharge),
]
