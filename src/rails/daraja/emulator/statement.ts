import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import { dashedTime, shillings } from '../../../dev/sandbox/format.ts'
import type { AnyRail, RailOf } from '../../../lib/rail-names.ts'

const columns = [
  'Receipt No.',
  'Completion Time',
  'Details',
  'Transaction Status',
  'Paid In',
  'Withdrawn',
  'Other Party Info',
  'A/C No.',
]

const words: Readonly<Record<RailOf<'MPESA'>, string>> = {
  MPESA_STK: 'Pay Bill from',
  MPESA_B2C: 'Business Payment to',
  MPESA_B2B: 'Business Pay Bill to',
  MPESA_PAYBILL: 'Pay Bill from',
}
const isMpesa = (rail: AnyRail): rail is RailOf<'MPESA'> => Object.hasOwn(words, rail)

const masked = (party: string): string => `${party.slice(0, 3)}***${party.slice(-3)}`

/** What samples of the portal's export print. Of a payout to a phone it is the caller's conversation id, not its `Occassion`. */
const detailsOf = ({ rail, party, key, reference }: Movement): string => {
  const to = `${isMpesa(rail) ? words[rail] : rail} ${masked(party)}`
  return rail === 'MPESA_B2C' ? `${to} via API. Original conversation ID is ${key}.` : `${to} ${reference}`.trim()
}

const line = (moved: Movement): string[] => {
  const { rail, receipt, at, amountMinor, party, reference } = moved
  const isIn = isIncoming(moved)
  const amount = shillings(amountMinor)
  return [
    receipt,
    dashedTime(at),
    detailsOf(moved),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    rail === 'MPESA_B2C' ? '' : reference,
  ]
}

/** The rows of M-PESA's statement, with the columns of its portal first. */
export const statement = (movements: readonly Movement[]): string[][] => [columns, ...movements.map(line)]
