import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import { dashedTime, shillings } from '../../../dev/sandbox/format.ts'

const columns = ['Reference', 'Date', 'Narrative', 'Status', 'Credit', 'Debit', 'Transaction ID']

const line = (moved: Movement): string[] => {
  const { key, receipt, at, reference } = moved
  const amount = shillings(moved.amountMinor)
  const isIn = isIncoming(moved)
  return [key, dashedTime(at), reference, 'Success', isIn ? amount : '', isIn ? '' : amount, receipt]
}

/** The rows of the bank's statement. */
export const statement = (movements: readonly Movement[]): string[][] => [columns, ...movements.map(line)]
