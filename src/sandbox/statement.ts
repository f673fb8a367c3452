import type { AnyRail, RailOf } from '../lib/rail-names.ts'
import { isIncoming, type Movement } from './book.ts'
import { shillings } from './format.ts'

const mpesaColumns = [
  'Receipt No.',
  'Completion Time',
  'Details',
  'Transaction Status',
  'Paid In',
  'Withdrawn',
  'Other Party Info',
  'A/C No.',
]
const bankColumns = ['Reference', 'Date', 'Narrative', 'Status', 'Credit', 'Debit', 'Transaction ID']

const words: Readonly<Record<RailOf<'MPESA'>, string>> = {
  MPESA_STK: 'Pay Bill from',
  MPESA_B2C: 'Business Payment to',
  MPESA_B2B: 'Business Pay Bill to',
  MPESA_PAYBILL: 'Pay Bill from',
}
const isMpesa = (rail: AnyRail): rail is RailOf<'MPESA'> => Object.hasOwn(words, rail)

const nairobi = (at: Date): string => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

const masked = (party: string): string => `${party.slice(0, 3)}***${party.slice(-3)}`

/** What samples of the portal's export print. Of a payout to a phone it is the caller's conversation id, not its `Occassion`. */
const detailsOf = ({ rail, party, key, reference }: Movement): string => {
  const to = `${isMpesa(rail) ? words[rail] : rail} ${masked(party)}`
  return rail === 'MPESA_B2C' ? `${to} via API. Original conversation ID is ${key}.` : `${to} ${reference}`.trim()
}

const mpesaLine = (moved: Movement): string[] => {
  const { rail, receipt, at, amountMinor, party, reference } = moved
  const isIn = isIncoming(moved)
  const amount = shillings(amountMinor)
  return [
    receipt,
    nairobi(at),
    detailsOf(moved),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    rail === 'MPESA_B2C' ? '' : reference,
  ]
}

const bankLine = (moved: Movement): string[] => {
  const { key, receipt, at, reference } = moved
  const amount = shillings(moved.amountMinor)
  const isIn = isIncoming(moved)
  return [key, nairobi(at), reference, 'Success', isIn ? amount : '', isIn ? '' : amount, receipt]
}

/** The rows of M-PESA's statement, with the columns of its portal first. */
export const mpesaStatement = (movements: readonly Movement[]): string[][] => [mpesaColumns, ...movements.map(mpesaLine)]

/** The rows of a bank's statement. */
export const bankStatement = (movements: readonly Movement[]): string[][] => [bankColumns, ...movements.map(bankLine)]
