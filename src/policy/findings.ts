import { duplicateFindings } from './duplicates.ts'
import { type PolicyField, type PolicyFields, policyFieldNames } from './fields.ts'
import { dailyCap, type Finding, monthlyCap, perPaymentCap } from './finding.ts'
import { newPayeeFindings, verificationFindings } from './payees.ts'
import type { RuleName } from './rules.ts'
import { allowsPayee, bindsPayer, byText, namesPayee, namesType, towardsThreshold, unapprovedUnderPolicy } from './scope.ts'
import type { Evaluation, MandateRules, PaymentFacts, PolicyRules, TraceSource } from './types.ts'

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

const isForInitiator = (mandate: MandateRules, payment: PaymentFacts): boolean =>
  mandate.grantId === null
    ? payment.initiatorAccountId === mandate.signerAccountId
    : payment.grantLineage.includes(mandate.grantId)

export const mandateSource = (mandate: MandateRules): TraceSource => ({ kind: 'mandate', id: mandate.id, name: mandate.name })

/**
 * What a payment must satisfy to use the mandate that it names. A payment that does not fit is denied: paying without the mandate instead
 * would spend outside the signed terms while the caller believes that they apply.
 */
export const mandateFindings = (mandate: MandateRules, payment: PaymentFacts): Finding[] => {
  const source = mandateSource(mandate)
  const { beneficiaryIds, paymentTypes, maxPerPaymentMinor, maxPayments } = mandate
  const gate = (rule: RuleName, passes: boolean): Finding => ({ kind: 'gate', source, rule, passes })
  const findings: Finding[] = [
    gate('mandate_status', mandate.status === 'active'),
    gate('mandate_window', mandate.validFrom <= payment.at && payment.at < mandate.expiresAt),
    gate('mandate_workspace', mandate.workspaceId === payment.workspaceId),
    gate('mandate_initiator', isForInitiator(mandate, payment)),
  ]
  // Said only of a wallet that does not stand behind its signature: most have a key, and always do.
  if (mandate.standing === 'refused') findings.push(gate('mandate_signature', false))
  if (mandate.standing === 'unanswered')
    findings.push({ kind: 'ask', source, rule: 'mandate_unconfirmed', thresholdMinor: null, approvals: 1 })
  if (paymentTypes.length > 0) findings.push(gate('mandate_payment_types', namesType(paymentTypes, payment)))
  if (beneficiaryIds.length > 0) findings.push(gate('mandate_beneficiary_ids', allowsPayee(beneficiaryIds, payment)))
  if (maxPerPaymentMinor !== null)
    findings.push({ kind: 'cap', source, rule: 'mandate_per_payment', limitMinor: maxPerPaymentMinor })
  findings.push({ kind: 'cap', source, rule: 'mandate_total', limitMinor: mandate.maxTotalMinor, usedMinor: mandate.spentMinor })
  if (maxPayments !== null) findings.push(gate('mandate_max_payments', mandate.paymentsMade < maxPayments))
  return findings
}
