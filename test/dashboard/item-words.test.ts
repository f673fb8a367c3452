import { expect, test } from 'vitest'
import { bookLabel, canBeAssigned, moneyOf, nameOfItem } from '../../dashboard/src/pages/reconciliation/item-words.ts'
import { type Difference, type OpenItem, openItems, type SuspenseItem } from '../../dashboard/src/pages/reconciliation/unknown.ts'

const deposit = {
  id: 'sus_1',
  rail: 'MPESA_PAYBILL',
  direction: 'in',
  reason: 'unknown_reference',
  amount_minor: '1234500',
  provider_receipt: 'SGH0000001',
  sender_name: 'JANE DOE',
  payment_reference: 'RENT MARCH',
  booked: true,
} as SuspenseItem
const difference = {
  reason: 'The balance differs',
  booked_minor: '100',
  stated_minor: null,
  provider_receipt: 'SGH0000002',
} as Difference
const inSuspense = (change: Partial<SuspenseItem> = {}): OpenItem => ({
  key: 'sus_1',
  suspense: { ...deposit, ...change },
  difference: null,
})
const alone: OpenItem = { key: 'rec_1', suspense: null, difference }
const money = (item: OpenItem) => moneyOf(item, 'KES').replaceAll('\u00a0', ' ')

test('money in suspense is told by its amount, receipt, payer and reference', () => {
  expect(money(inSuspense())).toMatch(/, paid in, KES 12,345\.00, SGH0000001, from JANE DOE, reference RENT MARCH$/)
  const bare = { amount_minor: null, provider_receipt: null, sender_name: null, payment_reference: null }
  expect(money(inSuspense(bare))).toMatch(/, paid in, amount not known$/)
  expect(nameOfItem(inSuspense())).toMatch(/, SGH0000001$/)
  expect(['MPESA_PAYBILL', 'MPESA_STK', 'MPESA', 'MPESA_B2C'].map(bookLabel)).toEqual([
    'M-PESA deposit',
    'M-PESA prompt',
    'M-PESA',
    'M-PESA to a phone',
  ])
})

test('a difference is told by what the books and the statement have, and its receipt', () => {
  expect(money(alone)).toBe('booked KES 1.00, not in the statement, SGH0000002')
  const balance = { ...difference, kind: 'balance_differs', stated_minor: '90' } as Difference
  expect(money({ ...alone, difference: balance })).toBe('expected KES 1.00, provider KES 0.90, SGH0000002')
})

test('a line of a statement is one item with the money in suspense of its receipt and direction, once', () => {
  const line = (id: string, stated_minor: string) =>
    ({ ...difference, id, kind: 'not_in_our_books', provider_receipt: 'SGH0000001', stated_minor }) as Difference
  const out = { ...deposit, id: 'sus_2', direction: 'out' } as SuspenseItem
  const again = { ...out, id: 'sus_3' } as SuspenseItem
  const { inSuspense: joined, others } = openItems(
    [out, again, deposit],
    [line('rec_in', '1234500'), line('rec_out', '-1234500')],
  )
  expect(joined.map((item) => [item.key, item.difference?.id])).toEqual([
    ['sus_2', 'rec_out'],
    ['sus_3', undefined],
    ['sus_1', 'rec_in'],
  ])
  expect(others).toEqual([])
})

test('only money that came in and is booked can be assigned', () => {
  expect([inSuspense(), inSuspense({ direction: 'out' }), inSuspense({ booked: false }), alone].map(canBeAssigned)).toEqual([
    true,
    false,
    false,
    false,
  ])
})
