import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approvalProofs, type Outcome, outcomes } from '../../src/lib/policy-answers.ts'
import { chargesFor, evaluate } from '../../src/policy/evaluate.ts'
import { explain } from '../../src/policy/explain.ts'
import type { Decision, Evaluation } from '../../src/policy/types.ts'
import { amount, evaluation, forEvaluations, policyRules } from './arbitraries.ts'
import { policy } from './builders.ts'

const numRuns = 3000
const strictness = (outcome: Outcome) => outcomes.indexOf(outcome)
const paying = (input: Evaluation, amountMinor: bigint): Evaluation => ({ ...input, payment: { ...input.payment, amountMinor } })
const withPolicies = (input: Evaluation, policies: Evaluation['policies']): Evaluation => ({ ...input, policies })

const isAtLeastAsStrict = (stricter: Decision, milder: Decision) => {
  expect(strictness(stricter.outcome)).toBeGreaterThanOrEqual(strictness(milder.outcome))
  expect(stricter.requiredApprovals).toBeGreaterThanOrEqual(milder.requiredApprovals)
  expect(approvalProofs.indexOf(stricter.approvalProof)).toBeGreaterThanOrEqual(approvalProofs.indexOf(milder.approvalProof))
  expect(Number(stricter.separationOfDuties)).toBeGreaterThanOrEqual(Number(milder.separationOfDuties))
}

describe('for any rules', () => {
  test('a decision never throws, and neither do its explanation and its charges', () => {
    forEvaluations((input) => {
      expect(explain(evaluate(input), 'KES')).toMatch(/^[A-Z].*\.$/)
      chargesFor(input)
    })
  })

  test('adding a policy never makes a decision milder', () => {
    fc.assert(
      fc.property(evaluation, policyRules('p9'), (input, added) => {
        const before = evaluate(input)
        const after = evaluate(withPolicies(input, [...input.policies, added]))
        isAtLeastAsStrict(after, before)
        const [most, maxBefore] = [after.remedy?.maxAmountMinor ?? null, before.remedy?.maxAmountMinor ?? null]
        if (most !== null && maxBefore !== null) expect(most <= maxBefore).toBe(true)
      }),
      { numRuns },
    )
  })

  test('a larger amount never makes a decision milder', () => {
    fc.assert(
      fc.property(evaluation, amount, (input, more) => {
        isAtLeastAsStrict(evaluate(paying(input, input.payment.amountMinor + more)), evaluate(input))
      }),
      { numRuns },
    )
  })

  test('the order of policies changes nothing, and the order of grants only the order of the trace', () => {
    fc.assert(
      fc.property(evaluation, fc.infiniteStream(fc.nat()), (input, keys) => {
        const shuffled = [...input.policies]
          .map((rules) => ({ rules, key: keys.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ rules }) => rules)
        const decision = evaluate(input)
        expect(evaluate(withPolicies(input, shuffled))).toEqual(decision)
        expect(chargesFor(withPolicies(input, shuffled))).toEqual(chargesFor(input))

        const { trace, remedy, ...rest } = evaluate({ ...input, grants: input.grants.toReversed() })
        const { trace: inOrder, remedy: expected, ...same } = decision
        expect(rest).toEqual(same)
        expect(new Set(trace)).toEqual(new Set(inOrder))
        expect(remedy?.maxAmountMinor).toEqual(expected?.maxAmountMinor)
      }),
      { numRuns },
    )
  })

  test('the outcome is the strictest verdict of the trace, and the decisive entries are those with that verdict', () => {
    forEvaluations((input) => {
      const { outcome, trace } = evaluate(input)
      expect(Math.max(...trace.map((entry) => strictness(entry.outcome)))).toBe(strictness(outcome))
      for (const entry of trace) expect(entry.decisive === true).toBe(outcome !== 'allow' && entry.outcome === outcome)
    })
  })

  test('an allowed payment has every approval that it needs', () => {
    forEvaluations((input) => {
      const { outcome, requiredApprovals, approvalsByMandate } = evaluate(input)
      if (outcome === 'allow') expect(approvalsByMandate).toBe(requiredApprovals)
      if (outcome === 'require_approval') expect(approvalsByMandate).toBeLessThan(requiredApprovals)
    })
  })

  test('under a limit of 0 nothing passes', () => {
    const zero = fc.constantFrom('perPaymentLimitMinor', 'dailyLimitMinor', 'monthlyLimitMinor', 'totalLimitMinor')
    fc.assert(
      fc.property(evaluation, zero, (input, limit) => {
        const decision = evaluate(withPolicies(input, [...input.policies, policy({ id: 'p9', [limit]: 0n })]))
        expect(decision.outcome).toBe('deny')
        expect(decision.remedy?.maxAmountMinor).toBeNull()
      }),
      { numRuns },
    )
  })

  test('evaluating does not change its input', () => {
    fc.assert(
      fc.property(evaluation, (input) => {
        const before = structuredClone(input)
        evaluate(input)
        chargesFor(input)
        expect(input).toEqual(before)
      }),
      { numRuns: 1000 },
    )
  })
})

test('the generator reaches every outcome, mandates that count, and remedies of every kind', () => {
  const seen = fc.sample(evaluation, { numRuns, seed: 11 }).map(evaluate)
  const often = (what: (decision: Decision) => unknown) => expect(seen.filter(what).length).toBeGreaterThan(numRuns / 100)
  for (const outcome of outcomes) often((decision) => decision.outcome === outcome)
  often((decision) => decision.approvalsByMandate)
  often((decision) => decision.separationOfDuties)
  often((decision) => decision.approvalProof === 'signature')
  often((decision) => decision.remedy?.passesAt)
  often((decision) => decision.remedy?.maxAmountMinor)
  often((decision) => decision.trace.some(({ rule, outcome }) => rule === 'eligible_approvers' && outcome === 'deny'))
})
