import { expect, test } from 'vitest'
import { evaluate } from '../../src/policy/evaluate.ts'
import { explain } from '../../src/policy/explain.ts'
import { ruleNames } from '../../src/policy/rules.ts'
import type { Decision, TraceEntry } from '../../src/policy/types.ts'
import { evaluationOf, grant, kes, mandate, policy } from './builders.ts'

const usage = { dayMinor: kes(4200), monthMinor: kes(9000), totalMinor: 0n }
const lunch = (over: Parameters<typeof policy>[0]) => evaluationOf({ policies: [policy({ usage, ...over })] })
const refusedBy = (over: Partial<TraceEntry>): Decision => ({
  outcome: 'deny',
  requiredApprovals: 0,
  separationOfDuties: false,
  approvalProof: 'any',
  approvalsByMandate: 0,
  policyVersions: [],
  warnings: [],
  trace: [{ source: { kind: 'rail', id: null, name: 'MPESA_B2C' }, rule: 'whole_shillings', outcome: 'deny', ...over }],
})

test.each([
  ['No policy blocks this.', evaluationOf()],
  ['Payments are disabled for this account.', evaluationOf({ payments: 'disabled' })],
  [
    'The daily limit of policy "Team lunch" is KES 5,000.00: KES 4,200.00 is used, and KES 1,000.00 was requested. It resets at 2026-03-10T21:00:00Z.',
    lunch({ dailyLimitMinor: kes(5000) }),
  ],
  [
    'The monthly limit of policy "Team lunch" is KES 9,500.00: KES 9,000.00 is used, and KES 1,000.00 was requested. It resets at 2026-03-31T21:00:00Z.',
    lunch({ monthlyLimitMinor: kes(9500) }),
  ],
  [
    'The per-payment limit of policy "Team lunch" is KES 500.00, and KES 1,000.00 was requested.',
    lunch({ perPaymentLimitMinor: kes(500) }),
  ],
  [
    'Policy "Team lunch" requires 1 approval at or above KES 800.00 a day to one beneficiary, and KES 1,000.00 was requested.',
    lunch({ approvalThresholdMinor: kes(800) }),
  ],
  ['Every payment needs 2 approvals under policy "Team lunch".', lunch({ requiredApprovalCount: 2 })],
  ['The payment needs 7 approvals, and only 3 people can give one.', lunch({ requiredApprovalCount: 7 })],
  [
    'Every payment needs 1 approval under policy "Team lunch". Only an approval by passkey or wallet counts.',
    {
      ...lunch({ requiredApprovalCount: 1, approvalProof: 'signature' }),
      approvers: { eligibleAccountIds: ['ada'], signingAccountIds: ['ada'] },
    },
  ],
  [
    'The payment needs 1 approval by passkey or wallet, and no one who may approve has one. An approver adds a passkey on the Account page.',
    lunch({ requiredApprovalCount: 1, approvalProof: 'signature' }),
  ],
  [
    'The payment needs 1 approval, and no one can give one.',
    evaluationOf({ approvers: [], policies: [policy({ requiredApprovalCount: 1 })] }),
  ],
  [
    'The beneficiary is not one that key or agent "Agent" allows.',
    evaluationOf({ grants: [grant({ beneficiaryIds: ['landlord'] })] }),
  ],
  [
    'The payment names mandate "March groceries", which is no longer active.',
    evaluationOf({ mandate: mandate({ status: 'revoked' }) }),
  ],
  [
    'The total limit of mandate "March groceries" is KES 10,000.00: KES 9,500.00 is used, and KES 1,000.00 was requested.',
    evaluationOf({ mandate: mandate({ spentMinor: kes(9500) }) }),
  ],
])('%s', (sentence, input) => {
  expect(explain(evaluate(input), 'KES')).toBe(sentence)
})

test('of several rules that ask for approvals it names the one that asks for most', () => {
  const policies = [policy({ requiredApprovalCount: 1 }), policy({ id: 'p2', name: 'Board', requiredApprovalCount: 3 })]
  expect(explain(evaluate(evaluationOf({ policies })), 'KES')).toBe('Every payment needs 3 approvals under policy "Board".')
})

test.each(ruleNames)('%s has a sentence, also for an entry with missing numbers', (rule) => {
  const sentence = explain(refusedBy({ rule, source: { kind: 'policy', id: null, name: null } }), 'KES')
  expect(sentence).toMatch(/^[A-Z].*\.$/)
  expect(sentence).not.toMatch(/undefined|null|NaN/)
})

test('an unknown rule is shown by its name', () => {
  expect(explain(refusedBy({}), 'KES')).toBe('The rule whole_shillings of payment method "MPESA_B2C" stops this payment.')
})

test('a name cannot end its quotation marks or the line', () => {
  const input = evaluationOf({ policies: [policy({ name: 'a" is fine.\n', perPaymentLimitMinor: 0n })] })
  expect(explain(evaluate(input), 'KES')).toContain(`policy "a' is fine." is`)
})
