import { expect, test } from 'vitest'
import type { Booked } from '../../src/modules/exceptions/reconciliation/booking-index.ts'
import { match } from '../../src/modules/exceptions/reconciliation/matching-rules.ts'
import { readStatement } from '../harness/read-statement.ts'

/*
 * Lines in the form of public samples of the M-PESA portal's export, not of the emulator. The organisation's portal masks the
 * other party, and names a payout to a phone only by its OriginatorConversationID.
 */
const header =
  'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Balance Confirmed,Reason Type,Other Party Info,Linked Transaction ID,A/C No.'
const orderId = '3e1f5c80-0a7b-8d42-9f31-6c2b7a914d05'
const conversation = 'AG_20260304_20105b3f9e6d1c2a4870'
const toPhone = (id = orderId, receipt = 'UC44TX0Q1A') =>
  `${receipt},04-03-2026 12:00:05,Business Payment to 254708***149 - JOHN DOE via API. Original conversation ID is ${id}.,Completed,,-150.00,"9,850.00",TRUE,Business Payment to Customer via API,254708***149 - JOHN DOE,,`
const toPaybill = (details: string, account: string, receipt = 'UC44TX0Q2B') =>
  `${receipt},04-03-2026 12:00:05,${details},Completed,,"-1,500.00","8,350.00",TRUE,Pay Bill to Organisation,400200 - A BILLER,,${account}`

const at = new Date('2026-03-04T09:00:00Z')
const booked = (fields: Partial<Booked>): Booked => ({
  kind: 'payment',
  rail: 'MPESA_B2C',
  names: [],
  id: 'one',
  attemptId: 'its attempt',
  orderId: null,
  conversation: null,
  reference: null,
  receipt: null,
  amountMinor: -15_000n,
  status: 'unknown',
  sent: null,
  at,
  ...fields,
})
const compare = (line: string, books: readonly Booked[]) => {
  const read = readStatement(`${header}\n${line}\n`)
  if ('problem' in read) throw new Error(read.problem)
  return match(read.lines, books, 'KES')
}
const found = (line: string, books: readonly Booked[]) => {
  const { matched, differences } = compare(line, books)
  return { matched, differences: differences.map(({ kind, subject, receipt }) => [kind, subject?.id ?? null, receipt]) }
}

test('a payout to a phone is found by the conversation id that its line prints, in either case', () => {
  for (const printed of [orderId, orderId.toUpperCase()])
    expect(
      found(toPhone(printed), [booked({ orderId }), booked({ id: 'another', orderId: orderId.replace('3e', '4e') })]),
    ).toEqual({
      matched: 0,
      differences: [['under_way', 'one', 'UC44TX0Q1A']],
    })
})

test("a line is found by the provider's own conversation id anywhere in its details", () => {
  const line = toPaybill(`Pay Bill Online to 400200 - A BILLER Acc. 778899. Conversation ID ${conversation}`, '778899')
  expect(found(line, [booked({ conversation, amountMinor: -150_000n })]).differences).toEqual([
    ['under_way', 'one', 'UC44TX0Q2B'],
  ])
})

test('a name of the order counts before a receipt, and a receipt before our reference', () => {
  const named = booked({ id: 'named', orderId })
  const receipted = booked({ id: 'receipted', receipt: 'UC44TX0Q1A', status: 'succeeded' })
  expect(found(toPhone(), [receipted, named]).differences).toEqual([
    ['under_way', 'named', 'UC44TX0Q1A'],
    ['not_in_statement', 'receipted', 'UC44TX0Q1A'],
  ])
  const line = toPaybill('Business Pay Bill to 400200 - A BILLER 100000000777', '778899')
  const byReceipt = booked({ id: 'receipted', receipt: 'UC44TX0Q2B', amountMinor: -150_000n, status: 'succeeded' })
  const referred = booked({ id: 'referred', reference: '100000000777', amountMinor: -150_000n })
  expect(found(line, [referred, byReceipt])).toEqual({ matched: 1, differences: [] })
  expect(found(line, [referred]).differences).toEqual([['under_way', 'referred', 'UC44TX0Q2B']])
})

test('the number of a payee at a paybill is not taken for ours, and a line that names nothing is not in our books', () => {
  const line = toPaybill('Business Pay Bill to 400200 - A BILLER Acc. 778899', '778899')
  expect(found(line, [booked({ reference: '100000000777', amountMinor: -150_000n })]).differences).toEqual([
    ['not_in_our_books', null, 'UC44TX0Q2B'],
  ])
})
