import { providerOf } from '../../../lib/rail-names.ts'
import { type Book, isIncoming, type Movement, workingBalance } from '../book.ts'

const freeUpToMinor = 100_00n
/** M-PESA's highest charges: for a payment to a customer, and to another organisation if the payer bears the whole charge. */
const toPhoneMinor = 13_00n
const toOrganisationMinor = 108_00n

/** Incoming money has no charge, because its payer bears it. The emulator has no bands: every other charge is the highest. */
export const chargeOf = (moved: Pick<Movement, 'rail' | 'payer' | 'amountMinor'>): bigint => {
  if (isIncoming(moved) || moved.amountMinor <= freeUpToMinor) return 0n
  return moved.rail === 'MPESA_B2C' ? toPhoneMinor : toOrganisationMinor
}

/** The balances of both accounts. Charges are owed by the charges account until they are settled from the working account. */
export const heldBy = (book: Book, account: string): { workingMinor: bigint; chargesMinor: bigint } => {
  const settledMinor = book.settledMinor(account)
  const charged = book.movements().filter((moved) => providerOf(moved.rail) === 'MPESA' && moved.account === account)
  return {
    workingMinor: workingBalance(book, 'MPESA', account) - settledMinor,
    chargesMinor: charged.reduce((sum, moved) => sum - chargeOf(moved), settledMinor),
  }
}
