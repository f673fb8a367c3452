import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluate } from '../../src/policy/evaluate.ts'
import type { Evaluation, Unapproved } from '../../src/policy/types.ts'
import { evaluationOf, grant, policy } from './builders.ts'

/** A policy alone may need several people. What one person approved under a stricter threshold counts for a laxer one no more. */
const oneRule = fc.record({
  policies: fc.tuple(
    fc.record({ approvalThresholdMinor: fc.bigInt(1n, 400n), requiredApprovalCount: fc.integer({ min: 1, max: 4 }) }),
  ),
  grantThreshold: fc.constant(null),
})
const rules = fc.record({
  policies: fc.array(fc.record({ approvalThresholdMinor: fc.bigInt(1n, 400n), requiredApprovalCount: fc.constant(1) }), {
    maxLength: 3,
  }),
  grantThreshold: fc.option(fc.bigInt(1n, 400n), { nil: null }),
})

const inputOf = (
  { policies, grantThreshold }: { policies: object[]; grantThreshold: bigint | null },
  amountMinor: bigint,
): Evaluation =>
  evaluationOf({
    approvers: ['ada', 'ben', 'cat', 'dan'],
    payment: { amountMinor, grantLineage: ['g1'] },
    policies: policies.map((over, index) => policy({ id: `p${index}`, ...over })),
    grants: [grant({ approvalThresholdMinor: grantThreshold })],
  })

/** The approvals that payments of these amounts need, one after the other. */
const approvalsOf = (given: Parameters<typeof inputOf>[0], amounts: readonly bigint[]): number => {
  const unapproved: Unapproved[] = []
  let approvals = 0
  for (const amountMinor of amounts) {
    const { requiredApprovals } = evaluate({ ...inputOf(given, amountMinor), unapproved })
    approvals += requiredApprovals
    if (requiredApprovals === 0)
      unapproved.push({ paymentType: 'supplies', rail: 'MPESA_B2B', grantLineage: ['g1'], amountMinor })
  }
  return approvals
}

test('splitting a sum never needs fewer approvals', () => {
  fc.assert(
    fc.property(fc.oneof(oneRule, rules), fc.array(fc.bigInt(1n, 200n), { minLength: 1, maxLength: 12 }), (given, amounts) => {
      const whole = amounts.reduce((sum, amount) => sum + amount, 0n)
      expect(approvalsOf(given, amounts)).toBeGreaterThanOrEqual(approvalsOf(given, [whole]))
    }),
    { numRuns: 5000 },
  )
})

test('what other types and other grants paid does not count', () => {
  const other: Unapproved = { paymentType: 'travel', rail: 'PESALINK', grantLineage: ['g9'], amountMinor: 399n }
  const typed = policy({ paymentTypes: ['supplies'], approvalThresholdMinor: 400n })
  const input = evaluationOf({
    approvers: ['ada', 'ben', 'cat', 'dan'],
    payment: { amountMinor: 10n, grantLineage: ['g1'] },
    policies: [typed],
    grants: [grant({ approvalThresholdMinor: 400n })],
  })
  expect(evaluate({ ...input, unapproved: [other] }).outcome).toBe('allow')
  expect(evaluate({ ...input, unapproved: [{ ...other, paymentType: 'supplies' }] }).outcome).toBe('require_approval')
  expect(evaluate({ ...input, unapproved: [{ ...other, grantLineage: ['g0', 'g1'] }] }).outcome).toBe('require_approval')
})
