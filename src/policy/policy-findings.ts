import { duplicateFindings } from './duplicates.ts'
import { type PolicyField, type PolicyFields, policyFieldNames } from './fields.ts'
import { dailyCap, type Finding, monthlyCap, perPaymentCap } from './finding.ts'
import { newPayeeFindings } from './new-payees.ts'
import { verificationFindings } from './payee-verification.ts'
import { bindsPayer, byText, namesPayee, namesType, towardsThreshold, unapprovedUnderPolicy } from './scope.ts'
import type { Evaluation, PaymentFacts, PolicyRules, TraceSource } from './types.ts'

/** What a field of a policy does. */
type Effect<Field extends PolicyField> =
  /** It selects the payments that the policy applies to. */
  | { selects: (value: PolicyFields[Field], payment: PaymentFacts) => boolean }
  /** It is a rule for the payments that the policy applies to. */
  | { finds: (policy: PolicyRules, source: TraceSource, input: Evaluation) => Finding[] }
  /** It changes how the rules of these fields work, or who may approve. */
  | { adjusts: readonly PolicyField[] }

/** In the order of the trace. */
const effects: { readonly [Field in PolicyField]: Effect<Field> } = {
  paymentTypes: { selects: (types, payment) => types.length === 0 || namesType(types, payment) },
  beneficiaryIds: { selects: (ids, payment) => ids.length === 0 || namesPayee(ids, payment) },
  perPaymentLimitMinor: { finds: (policy, source, { periods }) => perPaymentCap(source, policy, periods) },
  dailyLimitMinor: { finds: (policy, source, { periods }) => dailyCap(source, policy, periods) },
  monthlyLimitMinor: { finds: (policy, source, { periods }) => monthlyCap(source, policy, periods) },
  approvalThresholdMinor: {
    // A threshold with count 0 is refused on input; if one were stored all the same, it must not lose its effect.
    finds: (policy, source, input) => {
      const { approvalThresholdMinor: thresholdMinor, requiredApprovalCount } = policy
      const [rule, approvals] = ['approval_threshold' as const, Math.max(1, requiredApprovalCount)]
      if (thresholdMinor === null) return []
      const usedMinor = towardsThreshold(input, policy.id, unapprovedUnderPolicy(input, policy, approvals))
      return [{ kind: 'ask', source, rule, thresholdMinor, approvals, usedMinor }]
    },
  },
  requiredApprovalCount: {
    finds: ({ approvalThresholdMinor: thresholdMinor, requiredApprovalCount: approvals }, source) =>
      thresholdMinor === null && approvals > 0
        ? [{ kind: 'ask', source, rule: 'required_approval_count', thresholdMinor, approvals }]
        : [],
  },
  separationOfDuties: {
    adjusts: ['approvalThresholdMinor', 'requiredApprovalCount', 'onDuplicate', 'newPayees', 'payeeVerification'],
  },
  approvalProof: { adjusts: ['approvalThresholdMinor', 'requiredApprovalCount', 'onDuplicate', 'newPayees'] },
  duplicateWindowSeconds: { adjusts: ['onDuplicate'] },
  onDuplicate: { finds: duplicateFindings },
  newPayees: {
    finds: ({ newPayees, requiredApprovalCount }, source, { payment }) =>
      newPayeeFindings(payment, source, newPayees, requiredApprovalCount),
  },
  payeeVerification: { finds: verificationFindings },
}

const selects = <Field extends PolicyField>(field: Field, policy: PolicyRules, payment: PaymentFacts): boolean => {
  const effect: Effect<Field> = effects[field]
  return !('selects' in effect) || effect.selects(policy[field], payment)
}

const selecting = policyFieldNames.filter((field) => 'selects' in effects[field])

const appliesTo = (policy: PolicyRules, payment: PaymentFacts): boolean =>
  bindsPayer(policy, payment) && selecting.every((field) => selects(field, policy, payment))

/** The policies that apply to the payment, oldest first (ids are UUIDv7), in whichever order they are passed. */
export const applicablePolicies = ({ policies, payment }: Evaluation): PolicyRules[] =>
  policies.filter((policy) => appliesTo(policy, payment)).sort((a, b) => byText(a.id, b.id))

/** The rules of a policy that applies to the payment. */
export const policyFindings = (policy: PolicyRules, input: Evaluation): Finding[] => {
  const source: TraceSource = { kind: 'policy', id: policy.id, name: policy.name }
  return policyFieldNames.flatMap((field) => {
    const effect = effects[field]
    return 'finds' in effect ? effect.finds(policy, source, input) : []
  })
}
