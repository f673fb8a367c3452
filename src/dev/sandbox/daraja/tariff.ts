import { providerOf } from '../../../lib/rail-names.ts'
import { type Book, isIncoming, type Movement, workingBalance } from '../book.ts'

type Band = readonly [upToShillings: bigint, chargeShillings: bigint]

/** M-PESA's charge for a payment from an organisation to a registered customer. */
const toPhones: readonly Band[] = [
  [100n, 0n],
  [1_500n, 5n],
  [5_000n, 9n],
  [20_000n, 11n],
]
const toPhonesAbove = 13n

/** M-PESA's charge for a payment to another organisation, if the payer bears the whole charge. */
const toOrganisations: readonly Band[] = [
  [100n, 0n],
  [500n, 5n],
  [1_000n, 10n],
  [1_500n, 15n],
  [2_500n, 20n],
  [3_500n, 25n],
  [5_000n, 34n],
  [7_500n, 42n],
  [10_000n, 48n],
  [15_000n, 57n],
  [20_000n, 62n],
  [25_000n, 67n],
  [30_000n, 72n],
  [35_000n, 83n],
  [40_000n, 99n],
  [45_000n, 103n],
]
const toOrganisationsAbove = 108n

/** Incoming money has no charge, because its payer bears it. */
export const chargeOf = (moved: Pick<Movement, 'rail' | 'payer' | 'amountMinor'>): bigint => {
  if (isIncoming(moved)) return 0n
  const [bands, above] =
    moved.rail === 'MPESA_B2C' ? ([toPhones, toPhonesAbove] as const) : ([toOrganisations, toOrganisationsAbove] as const)
  const [, charge = above] = bands.find(([upTo]) => moved.amountMinor <= upTo * 100n) ?? []
  return charge * 100n
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
