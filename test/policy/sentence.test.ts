import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type PolicyField,
  type PolicyFields,
  type PolicyWire,
  policyFieldNames,
  policyFields,
  wireName,
} from '../../src/policy/fields.ts'
import { policySentence } from '../../src/policy/sentence.ts'

const names = {
  money: (minor: string) => `KES ${minor}`,
  nameOf: (id: string) => `<${id}>`,
  typeName: (type: string) => type,
  boundTo: null,
}

/** A value of each field that has an effect by itself. */
const set: PolicyFields = {
  paymentTypes: ['salary'],
  beneficiaryIds: ['ben_1'],
  perPaymentLimitMinor: 100n,
  dailyLimitMinor: 200n,
  monthlyLimitMinor: 300n,
  totalLimitMinor: 400n,
  approvalThresholdMinor: 50n,
  requiredApprovalCount: 2,
  separationOfDuties: true,
  approvalProof: 'signature',
  approverIds: ['acc_1'],
  duplicateWindowSeconds: 3600,
  onDuplicate: 'deny',
  newPayees: 'require_approval',
  payeeVerification: 'warn',
}

const onWire = (value: PolicyFields[PolicyField]) => (typeof value === 'bigint' ? value.toString() : value)
const terms = (...fields: readonly PolicyField[]): PolicyWire =>
  Object.fromEntries(
    policyFieldNames.map((field) => [wireName(field), onWire(fields.includes(field) ? set[field] : policyFields[field].absent)]),
  ) as PolicyWire

const say = (over: Partial<PolicyWire>) => policySentence({ ...terms(), ...over }, names)

test.each(policyFieldNames)('%s is in the sentence of every policy that has it', (field) => {
  fc.assert(
    fc.property(fc.subarray(policyFieldNames), (others) => {
      const without = others.filter((other) => other !== field)
      expect(policySentence(terms(...without, field), names)).not.toBe(policySentence(terms(...without), names))
    }),
  )
})

const repeats = 'it repeats the amount and reference of a payment to the same beneficiary'
const repeatsRecent = 'it repeats the amount and reference of a recent payment to the same beneficiary'

test.each<[Partial<PolicyWire>, string]>([
  [{}, 'Every payment is allowed. This policy has no limits yet.'],
  [
    { payment_types: ['salary', 'rent'], beneficiary_ids: ['ben_1'], per_payment_limit_minor: '100', daily_limit_minor: '200' },
    'Every payment of type salary or rent to <ben_1> is limited to KES 100 per payment and KES 200 a day.',
  ],
  [{ on_duplicate: 'deny' }, `Every payment is refused if ${repeatsRecent}.`],
  [{ on_duplicate: 'deny', duplicate_window_seconds: 604_800 }, `Every payment is refused if ${repeats} from the last 7 days.`],
  [{ duplicate_window_seconds: 3600 }, `Every payment gets a warning if ${repeats} from the last hour.`],
  [{ on_duplicate: 'deny', duplicate_window_seconds: 0 }, 'Every payment never counts as a duplicate.'],
  [
    { on_duplicate: 'require_approval', separation_of_duties: true, duplicate_window_seconds: 5400 },
    `Every payment needs 1 approval from someone other than the requester if ${repeats} from the last 90 minutes.`,
  ],
  [
    { separation_of_duties: true },
    'Every payment must be approved by someone other than the requester if another rule requires approval.',
  ],
  [{ required_approval_count: 2 }, 'Every payment needs 2 approvals.'],
  [
    { monthly_limit_minor: '300', approval_threshold_minor: '50', required_approval_count: 1, on_duplicate: 'warn' },
    `Every payment is limited to KES 300 a month, needs 1 approval at or above KES 50, and gets a warning if ${repeatsRecent}.`,
  ],
  [{ daily_limit_minor: '0', on_duplicate: 'warn' }, 'Every payment is refused: a limit of zero allows no payment.'],
])('%j: %s', (over, sentence) => expect(say(over)).toBe(sentence))

test('whose payments alone a policy binds is in its sentence', () => {
  expect(policySentence({ ...terms(), daily_limit_minor: '5' }, { ...names, boundTo: 'Till bot' })).toBe(
    'Every payment by “Till bot” and the keys below it is limited to KES 5 a day.',
  )
})
