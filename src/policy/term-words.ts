import texts from '../../texts/rules.en.json' with { type: 'json' }
import { canonicalJson } from '../lib/canonical.ts'
import { type PolicyField, type PolicyWire, policyFieldNames, wireName } from './fields.ts'
import { approvals, duration, type Names } from './sentence.ts'

export type Words = Omit<Names, 'boundTo'> & { personOf: (accountId: string) => string }

/** `value`: the value in words; null if the policy has no such rule, shown as `absent`. `other`: the terms to compare with. */
type Row = {
  label: string
  absent: string
  value: (terms: PolicyWire, words: Words, other: PolicyWire) => string | null
}

/** Maximum length of a list, unless more of its entries are missing from the other list: no change is hidden. */
const maxNamed = 10

const entries = (own: readonly string[], other: readonly string[], nameOf: (entry: string) => string): string | null => {
  if (own.length === 0) return null
  if (own.length <= maxNamed) return own.map(nameOf).join(', ')
  const missing = own.filter((entry) => !other.includes(entry))
  const common = own.filter((entry) => other.includes(entry))
  const named = [...missing, ...common.slice(0, Math.max(0, maxNamed - missing.length))]
  const further = own.length - named.length
  return `${named.map(nameOf).join(', ')}${further > 0 ? ` and ${further} more` : ''}`
}

const limit = (label: string, name: 'per_payment' | 'daily' | 'monthly' | 'total'): Row => ({
  label,
  absent: 'none',
  value: (terms, { money }) => {
    const amount = terms[`${name}_limit_minor`]
    return amount === null ? null : money(amount)
  },
})

const answer = (label: string, name: 'on_duplicate' | 'new_payees' | 'payee_verification'): Row => ({
  label,
  absent: 'no rule',
  value: (terms) => {
    const given = terms[name]
    return given === null ? null : texts[`answer.${given}`]
  },
})

/** Each field's name and value in words. */
const termRows: { readonly [Field in PolicyField]: Row } = {
  beneficiaryIds: {
    label: 'Beneficiaries',
    absent: 'everyone',
    value: ({ beneficiary_ids: own }, { nameOf }, other) => entries(own, other.beneficiary_ids, nameOf),
  },
  paymentTypes: {
    label: 'Payment types',
    absent: 'every type',
    value: ({ payment_types: own }, { typeName }, other) => entries(own, other.payment_types, typeName),
  },
  perPaymentLimitMinor: limit('Per-payment limit', 'per_payment'),
  dailyLimitMinor: limit('Daily limit', 'daily'),
  monthlyLimitMinor: limit('Monthly limit', 'monthly'),
  totalLimitMinor: limit('Total limit', 'total'),
  approvalThresholdMinor: {
    label: 'Requires approval at or above',
    absent: 'no threshold',
    value: ({ approval_threshold_minor: threshold }, { money }) => (threshold === null ? null : money(threshold)),
  },
  requiredApprovalCount: {
    label: 'Approvals needed',
    absent: 'none',
    value: ({ required_approval_count: count }) => (count === 0 ? null : count === 1 ? '1 person' : `${count} people`),
  },
  separationOfDuties: {
    label: 'Requester',
    absent: 'may approve their own payment',
    value: ({ separation_of_duties: separate }) => (separate ? 'can’t approve their own payment' : null),
  },
  approvalProof: {
    label: 'Approvals that count',
    absent: 'all',
    value: ({ approval_proof: proof }) => (proof === 'signature' ? 'only by passkey or wallet' : null),
  },
  approverIds: {
    label: 'Only approvers',
    absent: 'every approver',
    value: ({ approver_ids: own }, { personOf }, other) => entries(own ?? [], other.approver_ids ?? [], personOf),
  },
  newPayees: answer('A beneficiary that no person has confirmed', 'new_payees'),
  payeeVerification: answer('A name that is not confirmed', 'payee_verification'),
  onDuplicate: answer('A repeated payment', 'on_duplicate'),
  duplicateWindowSeconds: {
    label: 'Counts as repeated within',
    absent: 'the usual time',
    value: ({ duplicate_window_seconds: window }) => (window === null ? null : duration(window)),
  },
}

/** Labels and values of the rules that a policy sets. */
export const termsInWords = (terms: PolicyWire, words: Words): Record<string, string> =>
  Object.fromEntries(
    Object.values(termRows).flatMap(({ label, value }) => {
      const said = value(terms, words, terms)
      return said === null ? [] : [[label, said]]
    }),
  )

export type ChangedTerm = { label: string; before: string; after: string }

/** Every changed field, before and after. Compares values instead of words: two beneficiaries may have the same name. */
export const changedTerms = (before: PolicyWire, after: PolicyWire, words: Words): ChangedTerm[] => {
  const stored = (terms: object, field: PolicyField) => canonicalJson(Reflect.get(terms, wireName(field)))
  return policyFieldNames
    .filter((field) => stored(before, field) !== stored(after, field))
    .map((field) => {
      const { label, absent, value } = termRows[field]
      return { label, before: value(before, words, after) ?? absent, after: value(after, words, before) ?? absent }
    })
}

/** Describes the approvals that an ordinary payment needs under these terms. Null: the policy is archived. */
export const ordinaryApprovals = (terms: PolicyWire | null, { money }: Pick<Words, 'money'>): string => {
  const none = 'no approval under this policy'
  if (terms === null) return none
  const { approval_threshold_minor: threshold, required_approval_count: count } = terms
  if (threshold !== null) return `${approvals(Math.max(1, count), terms)} at or above ${money(threshold)}, and none below`
  return count > 0 ? approvals(count, terms) : none
}
