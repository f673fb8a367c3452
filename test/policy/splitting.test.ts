import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluate } from '../../src/policy/evaluate.ts'
import { addUnapproved } from '../../src/policy/scope.ts'
import type { Evaluation, UnapprovedAmount } from '../../src/policy/types.ts'
import { evaluationOf, grant, policy } from './builders.ts'

const rules = fc.record({
  policies: fc.array(
    fc.record({ approvalThresholdMinor: fc.bigInt(1n, 400n), requiredApprovalCount: fc.integer({ min: 1, max: 4 }) }),
    { maxLength: 4 },
  ),
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

/** The required approvals of each of these payments in sequence. */
const approvalsOf = (given: Parameters<typeof inputOf>[0], amounts: readonly bigint[]): number[] => {
  const unapproved: UnapprovedAmount[] = []
  return amounts.map((amountMinor) => {
    const { requiredApprovals: approvals } = evaluate({ ...inputOf(given, amountMinor), unapproved })
    unapproved.push({ paymentType: 'supplies', rail: 'MPESA_B2B', grantLineage: ['g1'], approvals, amountMinor })
    return approvals
  })
}

test('of the parts of a sum one always needs as many people as the whole, whatever the rules and however it is split', () => {
  fc.assert(
    fc.property(rules, fc.array(fc.bigInt(1n, 200n), { minLength: 1, maxLength: 12 }), (given, amounts) => {
      const whole = amounts.reduce((sum, amount) => sum + amount, 0n)
      const [needed = 0] = approvalsOf(given, [whole])
      expect(Math.max(...approvalsOf(given, amounts))).toBeGreaterThanOrEqual(needed)
    }),
    { numRuns: 5000 },
  )
})

const unapprovedRows = fc.array(
  fc.record({
    paymentType: fc.constantFrom('supplies', 'travel'),
    rail: fc.constantFrom('MPESA_B2B', 'PESALINK'),
    grantLineage: fc.constantFrom([], ['g1'], ['g0', 'g1'], ['g1', 'g0']),
    approvals: fc.integer({ min: 0, max: 2 }),
    amountMinor: fc.bigInt(1n, 100n),
  }),
  { maxLength: 40 },
)

test('payments that no rule tells apart are one row, which decides as they would', () => {
  fc.assert(
    fc.property(rules, unapprovedRows, fc.bigInt(1n, 200n), (given, rows, amountMinor) => {
      const merged = rows.reduce<readonly UnapprovedAmount[]>(addUnapproved, [])
      const decide = (unapproved: readonly UnapprovedAmount[]) => evaluate({ ...inputOf(given, amountMinor), unapproved })
      expect(decide(merged)).toEqual(decide(rows))
      const kinds = new Set(rows.map(({ amountMinor: _, ...kind }) => JSON.stringify(kind)))
      expect(merged).toHaveLength(kinds.size)
    }),
    { numRuns: 2000 },
  )
})

test('what one person approved still counts for a rule that asks for two, and not for one that asks for one', () => {
  const approved: UnapprovedAmount = {
    paymentType: 'supplies',
    rail: 'MPESA_B2B',
    grantLineage: ['g1'],
    approvals: 1,
    amountMinor: 200n,
  }
  const both = {
    policies: [
      { approvalThresholdMinor: 150n, requiredApprovalCount: 1 },
      { approvalThresholdMinor: 400n, requiredApprovalCount: 2 },
    ],
  }
  const needs = (amount: bigint) => evaluate({ ...inputOf({ ...both, grantThreshold: null }, amount), unapproved: [approved] })
  expect([needs(100n).requiredApprovals, needs(199n).requiredApprovals, needs(200n).requiredApprovals]).toEqual([0, 1, 2])
})

test('what other types and other grants paid does not count', () => {
  const other: UnapprovedAmount = {
    paymentType: 'travel',
    rail: 'PESALINK',
    grantLineage: ['g9'],
    approvals: 0,
    amountMinor: 399n,
  }
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
