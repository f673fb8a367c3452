import { duplicateFindings } from './duplicates.ts'
import { type PolicyField, policyFieldNames } from './fields.ts'
import { ask, cap, caps, type Finding, gate } from './finding.ts'
import { newPayeeFindings, verificationFindings } from './payees.ts'
import { allowsPayee, bindsPayer, byText, namesPayee, namesType, towardsThreshold, unapprovedUnderPolicy } from './scope.ts'
import type { Evaluation, MandateRules, PaymentFacts, PolicyRules, TraceSource } from './types.ts'

type Finds = (policy: PolicyRules, source: TraceSource, input: Evaluation) => Finding[]

/** The rules of a policy's fields, in the order of the trace. Null: it selects payments (`appliesTo`), or changes how other rules work. */
const finds: Readonly<Record<PolicyField, Finds | null>> = {
  paymentTypes: null,
  beneficiaryIds: null,
  // All three limits, one after the other.
  perPaymentLimitMinor: (policy, source, { periods }) => caps(source, policy, periods),
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  // A threshold with count 0 is refused on input; if one were stored all the same, it must not lose its effect.
  approvalThresholdMinor: (policy, source, input) => {
    const { approvalThresholdMinor: thresholdMinor, requiredApprovalCount } = policy
    if (thresholdMinor === null) return []
    const approvals = Math.max(1, requiredApprovalCount)
    const usedMinor = towardsThreshold(input, policy.id, unapprovedUnderPolicy(input, policy, approvals))
    return [{ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals, usedMinor }]
  },
  requiredApprovalCount: ({ approvalThresholdMinor: thresholdMinor, requiredApprovalCount: approvals }, source) =>
    thresholdMinor === null && approvals > 0 ? [ask(source, 'required_approval_count', approvals)] : [],
  separationOfDuties: null,
  approvalProof: null,
  duplicateWindowSeconds: null,
  onDuplicate: duplicateFindings,
  newPayees: ({ newPayees, requiredApprovalCount }, source, { payment }) =>
    newPayeeFindings(payment, source, newPayees, requiredApprovalCount),
  payeeVerification: verificationFindings,
}

const appliesTo = (policy: PolicyRules, payment: PaymentFacts): boolean =>
  bindsPayer(policy, payment) &&
  (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, payment)) &&
  (policy.beneficiaryIds.length === 0 || namesPayee(policy.beneficiaryIds, payment))

/** The policies that apply to the payment, oldest first (ids are UUIDv7), in whichever order they are passed. */
export const applicablePolicies = ({ policies, payment }: Evaluation): PolicyRules[] =>
  policies.filter((policy) => appliesTo(policy, payment)).sort((a, b) => byText(a.id, b.id))

/** The rules of a policy that applies to the payment. */
export const policyFindings = (policy: PolicyRules, input: Evaluation): Finding[] => {
  const source: TraceSource = { kind: 'policy', id: policy.id, name: policy.name }
  return policyFieldNames.flatMap((field) => finds[field]?.(policy, source, input) ?? [])
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
  return [
    gate(source, 'mandate_status', mandate.status === 'active'),
    gate(source, 'mandate_window', mandate.validFrom <= payment.at && payment.at < mandate.expiresAt),
    gate(source, 'mandate_workspace', mandate.workspaceId === payment.workspaceId),
    gate(source, 'mandate_initiator', isForInitiator(mandate, payment)),
    // Said only of a wallet that does not stand behind its signature: most have a key, and always do.
    ...(mandate.standing === 'refused' ? [gate(source, 'mandate_signature', false)] : []),
    ...(mandate.standing === 'unanswered' ? [ask(source, 'mandate_unconfirmed', 1)] : []),
    ...(paymentTypes.length > 0 ? [gate(source, 'mandate_payment_types', namesType(paymentTypes, payment))] : []),
    ...(beneficiaryIds.length > 0 ? [gate(source, 'mandate_beneficiary_ids', allowsPayee(beneficiaryIds, payment))] : []),
    ...cap(source, 'mandate_per_payment', maxPerPaymentMinor),
    ...cap(source, 'mandate_total', mandate.maxTotalMinor, { usedMinor: mandate.spentMinor }),
    ...(maxPayments !== null ? [gate(source, 'mandate_max_payments', mandate.paymentsMade < maxPayments)] : []),
  ]
}
