import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import type { StatementRows } from '../../../dev/sandbox/emulator.ts'
import { periodText } from '../../../dev/sandbox/format.ts'
import type { AnyRail, RailOf } from '../../../lib/rail-names.ts'
import { decimalShillings, nairobiDateTime } from '../../fields.ts'

const columns = [
  'Receipt No.',
  'Completion Time',
  'Details',
  'Transaction Status',
  'Paid In',
  'Withdrawn',
  'Other Party Info',
  'Linked Transaction ID',
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

/** As in samples: a payout to a phone has the caller's conversation id, not its `Occassion`. */
const detailsOf = ({ rail, party, key, reference }: Movement): string => {
  const to = `${isMpesa(rail) ? words[rail] : rail} ${masked(party)}`
  return rail === 'MPESA_B2C' ? `${to} via API. Original conversation ID is ${key}.` : `${to} ${reference}`.trim()
}

const line = (moved: Movement): string[] => {
  const { rail, receipt, at, amountMinor, party, reference } = moved
  const isIn = isIncoming(moved)
  const amount = decimalShillings(amountMinor)
  return [
    receipt,
    nairobiDateTime(at),
    detailsOf(moved),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    '',
    rail === 'MPESA_B2C' ? '' : reference,
  ]
}

/** To a phone above the payment, under its receipt; to an organisation below it, under a receipt of its own. */
const withCharge = (moved: Movement): string[][] => {
  if (isIncoming(moved)) return [line(moved)]
  const isOfPhone = moved.rail === 'MPESA_B2C'
  const receipt = isOfPhone ? moved.receipt : `CH${moved.receipt.slice(2)}`
  const details = isOfPhone ? 'Business Payment Charge' : 'Business Pay Bill Charge'
  const linked = isOfPhone ? '' : moved.receipt
  const charge = [receipt, nairobiDateTime(moved.at), details, 'Completed', '', '-13.00', '', linked, '']
  return isOfPhone ? [charge, line(moved)] : [line(moved), charge]
}

/** Without an account: of all, as an export without a heading. */
export const statement: StatementRows = (movements, account) => [
  ...(account === undefined
    ? []
    : [
        ['Organization Name:', 'Sandbox'],
        ['Short Code:', account],
        ['Account:', 'Utility Account'],
        ['Time Period:', periodText(movements)],
        [],
      ]),
  columns,
  ...movements.flatMap(withCharge),
]
