import fc from 'fast-check'
import { expect, test } from 'vitest'
import { approvalProofs, outcomes } from '../../src/lib/policy-answers.ts'
import { evaluate } from '../../src/policy/evaluate.ts'
import { policyFieldNames } from '../../src/policy/fields.ts'
import { loosens } from '../../src/policy/loosening.ts'
import type { PolicyRules } from '../../src/policy/types.ts'
import { evaluation, policyRules } from './arbitraries.ts'
import { policy } from './builders.ts'

/** A policy, and the same with some fields changed. Counts stay, and so does the bound grant. */
const change = fc
  .tuple(policyRules('p9'), policyRules('p9'), fc.subarray(policyFieldNames, { minLength: 1 }))
  .map(([before, other, fields]): [PolicyRules, PolicyRules] => [
    before,
    { ...before, ...Object.fromEntries(fields.map((field) => [field, other[field]])) },
  ])

test('a change that loosens nothing lets no payment pass more easily than before', () => {
  let tried = 0
  fc.assert(
    fc.property(evaluation, change, (input, [before, after]) => {
      fc.pre(!loosens(before, after))
      tried += 1
      // The caller itself can give the `confirm`: it stops no more than an approval does.
      const meant = { ...input, duplicateIsIntended: true }
      const [then, now] = [before, after].map((one) => evaluate({ ...meant, policies: [...input.policies, one] }))
      if (!then || !now) throw new Error('two decisions')
      expect(outcomes.indexOf(now.outcome)).toBeGreaterThanOrEqual(outcomes.indexOf(then.outcome))
      expect(now.requiredApprovals).toBeGreaterThanOrEqual(then.requiredApprovals)
      expect(approvalProofs.indexOf(now.approvalProof)).toBeGreaterThanOrEqual(approvalProofs.indexOf(then.approvalProof))
      expect(Number(now.separationOfDuties)).toBeGreaterThanOrEqual(Number(then.separationOfDuties))
    }),
    { numRuns: 4000 },
  )
  expect(tried).toBeGreaterThan(1000)
})

test('a policy that stays as it is loosens nothing', () => {
  fc.assert(fc.property(policyRules('p9'), (rules) => !loosens(rules, rules)))
})

test.each<[string, Partial<PolicyRules>, Partial<PolicyRules>]>([
  ['a higher limit', { dailyLimitMinor: 5n }, { dailyLimitMinor: 6n }],
  ['no limit', { perPaymentLimitMinor: 5n }, { perPaymentLimitMinor: null }],
  ['a higher threshold', { approvalThresholdMinor: 5n, requiredApprovalCount: 1 }, { approvalThresholdMinor: 6n }],
  ['a threshold where every payment was asked about', { requiredApprovalCount: 2 }, { approvalThresholdMinor: 1n }],
  [
    'no threshold',
    { approvalThresholdMinor: 5n, requiredApprovalCount: 1 },
    { approvalThresholdMinor: null, requiredApprovalCount: 0 },
  ],
  ['a lower count', { requiredApprovalCount: 2 }, { requiredApprovalCount: 1 }],
  ['duties joined', { separationOfDuties: true }, { separationOfDuties: false }],
  ['no signature', { approvalProof: 'signature' }, { approvalProof: 'any' }],
  ['a type less', { paymentTypes: ['supplies', 'travel'] }, { paymentTypes: ['travel'] }],
  ['a payee less', { beneficiaryIds: [] }, { beneficiaryIds: ['grocer'] }],
  ['new payees allowed', { newPayees: 'deny' }, { newPayees: 'allow' }],
  ['names not asked for', { payeeVerification: 'require_approval' }, { payeeVerification: null }],
  ['a duplicate only warned of', { onDuplicate: 'deny' }, { onDuplicate: 'warn' }],
  ['a shorter window', { onDuplicate: 'deny', duplicateWindowSeconds: 60 }, { duplicateWindowSeconds: 59 }],
  ['another window than the one of the service', { onDuplicate: 'deny' }, { duplicateWindowSeconds: 86_400 }],
])('%s loosens a policy', (_, before, after) => {
  expect(loosens(policy(before), policy({ ...before, ...after }))).toBe(true)
})
