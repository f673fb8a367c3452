import { expect, test } from 'vitest'
import { typicalAmount, unusualAmount } from '../../src/policy/warnings.ts'
import { kes } from './builders.ts'

test.each([
  [[], null],
  [[100], null],
  [[100, 200], null],
  [[100, 300, 200], 200],
  [[100, 100, 90_000], 100],
  // The smaller one of two in the middle: it warns sooner.
  [[400, 100, 300, 200], 200],
])('what a payee usually gets, told from %j, is %s', (paid, typical) => {
  expect(typicalAmount(paid.map(kes))).toBe(typical === null ? null : kes(typical))
})

test.each([
  [500, 100, []],
  [500.01, 100, ['unusual_amount']],
  [1_000_000, null, []],
])('%s where %s is usual: %j', (amount, typical, codes) => {
  const found = unusualAmount(kes(amount), typical === null ? null : kes(typical))
  expect(found.map(({ code }) => code)).toEqual(codes)
})
