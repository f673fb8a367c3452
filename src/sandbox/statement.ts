import type { AnyRail, RailOf } from '../lib/rail-names.ts'
import type { Movement } from './book.ts'
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
}
const isMpesa = (rail: AnyRail): rail is RailOf<'MPESA'> => Object.hasOwn(words, rail)

const nairobi = (at: Date): string => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

const masked = (party: string): string => `${party.slice(0, 3)}***${party.slice(-3)}`

const mpesaLine = ({ rail, receipt, at, amountMinor, party, reference }: Movement): string[] => {
  const isIn = rail === 'MPESA_STK'
  const amount = shillings(amountMinor)
  return [
    receipt,
    nairobi(at),
    `${isMpesa(rail) ? words[rail] : rail} ${masked(party)} ${reference}`.trim(),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    reference,
  ]
}

/** Incoming money that was given back: a line of its own, under its own receipt. */
const reversalLine = ({ receipt, at, amountMinor, party, reference }: Movement): string[] => [
  receipt,
  nairobi(at),
  `Pay Bill Reversal to ${masked(party)} ${reference}`.trim(),
  'Completed',
  '',
  `-${shillings(amountMinor)}`,
  masked(party),
  reference,
]

const bankLine = ({ key, receipt, at, amountMinor, reference }: Movement): string[] => [
  key,
  nairobi(at),
  reference,
  'Success',
  '',
  shillings(amountMinor),
  receipt,
]

/** The rows of M-PESA's statement, with the columns of its portal first. */
export const mpesaStatement = (movements: readonly Movement[], returns: readonly Movement[]): string[][] => [
  mpesaColumns,
  ...movements.map(mpesaLine),
  ...returns.map(reversalLine),
]

/** The rows of a bank's statement. */
export const bankStatement = (movements: readonly Movement[]): string[][] => [bankColumns, ...movements.map(bankLine)]
