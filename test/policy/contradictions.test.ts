import { expect, test } from 'vitest'
import { contradictions, controlContradictions } from '../../src/policy/limits.ts'

const rules = (perPayment: bigint | null, daily: bigint | null, monthly: bigint | null, threshold: bigint | null = null) => ({
  perPaymentLimitMinor: perPayment,
  dailyLimitMinor: daily,
  monthlyLimitMinor: monthly,
  totalLimitMinor: null,
  approvalThresholdMinor: threshold,
})
const controls = { ...rules(null, null, null), paymentTypes: null, beneficiaryIds: null }

test.each([
  ['no rules at all are fine', rules(null, null, null), []],
  ['per payment ≤ daily ≤ monthly is fine', rules(1n, 2n, 3n), []],
  ['equal limits are fine', rules(2n, 2n, 2n), []],
  ['limits of 0 are fine', rules(0n, 0n, 0n), []],
  ['a threshold that no permitted payment reaches is fine', { ...rules(10n, null, null, 99n), requiredApprovalCount: 1 }, []],
  ['approvals for every payment are fine', { ...rules(null, null, null), requiredApprovalCount: 2 }, []],
  ['per payment > daily', rules(3n, 2n, null), ['per_payment_limit_minor: must not be more than daily_limit_minor']],
  ['daily > monthly', rules(null, 3n, 2n), ['daily_limit_minor: must not be more than monthly_limit_minor']],
  ['per payment > monthly', rules(3n, null, 2n), ['per_payment_limit_minor: must not be more than monthly_limit_minor']],
  [
    'each contradicting pair is listed',
    rules(3n, 2n, 1n),
    [
      'per_payment_limit_minor: must not be more than daily_limit_minor',
      'daily_limit_minor: must not be more than monthly_limit_minor',
    ],
  ],
  [
    'a threshold with no approval',
    { ...rules(null, null, null, 5n), requiredApprovalCount: 0 },
    ['required_approval_count: must be at least 1 when approval_threshold_minor is set'],
  ],
])('%s', (_, terms, expected) => {
  expect(contradictions(terms).map(({ path, message }) => `${path}: ${message}`)).toEqual(expected)
})

test("a grant's empty lists are errors, its absent ones are not", () => {
  expect(controlContradictions(controls)).toEqual([])
  expect(controlContradictions({ ...controls, paymentTypes: ['travel'], beneficiaryIds: ['b1'] })).toEqual([])
  const empty = controlContradictions({ ...controls, paymentTypes: [], beneficiaryIds: [] })
  expect(empty.map(({ path }) => path)).toEqual(['payment_types', 'beneficiary_ids'])
})

test("a grant's threshold needs no count", () => {
  expect(controlContradictions({ ...controls, approvalThresholdMinor: 5n })).toEqual([])
})

test("paths begin at the rules' place in the request", () => {
  const problems = controlContradictions({ ...controls, ...rules(3n, 2n, null), paymentTypes: [] }, 'spending_controls.')
  expect(problems.map(({ path }) => path)).toEqual([
    'spending_controls.per_payment_limit_minor',
    'spending_controls.payment_types',
  ])
})
