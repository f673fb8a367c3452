import { expect, test } from 'vitest'
import { beneficiaryLabels } from '../../dashboard/src/lib/beneficiary-labels.ts'

const payee = (display_name: string, destination_mask = '*********678', created_at = '2026-11-02T06:00:00.000Z') => ({
  display_name,
  payment_rail: 'MPESA_B2C' as const,
  destination_mask,
  created_at,
})

test('a payee is chosen by the name, and by the destination too where another one has the same name', () => {
  const [bob, alice, other] = [payee('Bob'), payee('Alice A'), payee('alice a', '*********002')]
  expect([bob, alice, other].map(beneficiaryLabels([bob, alice, other], true))).toEqual([
    'Bob',
    'Alice A (M-PESA to a phone, *********678)',
    'alice a (M-PESA to a phone, *********002)',
  ])
})

test('a name alone chooses no one where not all payees are known: one that is not shown may have it too', () => {
  const alice = payee('Alice A')
  expect(beneficiaryLabels([alice], false)(alice)).toBe('Alice A (M-PESA to a phone, *********678)')
})

test('payees whose names and masked destinations are the same differ by when they were added', () => {
  const same = [payee('Alice A'), payee('Alice A', '*********678', '2026-11-03T06:00:00.000Z')]
  for (const areAll of [true, false]) expect(new Set(same.map(beneficiaryLabels(same, areAll))).size).toBe(2)
})
