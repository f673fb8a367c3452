import { type FieldError, invalidFields } from '../../lib/errors.ts'
import { type PolicyField, type PolicyFields, policyFields } from '../../policy/fields.ts'
import { contradictions } from '../../policy/limits.ts'
import type { CreatePolicy } from './schema.ts'

type Stored<Value> = Value extends readonly (infer Item)[] ? Item[] : Value

/** A policy's fields as they are stored, evaluated and replayed. */
export type PolicyTerms = { [Field in PolicyField]: Stored<PolicyFields[Field]> } & {
  /** The count was derived from the threshold, because the policy names none. */
  countImplied: boolean
}

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)]

type PolicyInput = Omit<CreatePolicy, 'name'>

/** A field that is left out keeps its value; null removes it. */
const merged = <Field extends PolicyField>(
  field: Field,
  input: PolicyFields[Field] | null | undefined,
  current: PolicyFields | undefined,
): PolicyFields[Field] => {
  const { absent } = policyFields[field]
  if (input === undefined) return current ? current[field] : absent
  return input ?? absent
}

/**
 * What a request means, given the rules that exist already. A threshold without a count asks for one approval; a count without a threshold
 * asks for every payment. Throws 400 on limits that contradict each other.
 */
export const policyTerms = (input: PolicyInput, current?: PolicyTerms): PolicyTerms => {
  const approvalThresholdMinor = merged('approvalThresholdMinor', input.approval_threshold_minor, current)
  const count = input.required_approval_count
  const countImplied =
    count === undefined ? (current?.countImplied ?? true) : count === null || (count === 0 && approvalThresholdMinor === null)
  const implied = approvalThresholdMinor === null ? 0 : 1
  const terms: PolicyTerms = {
    paymentTypes: unique(merged('paymentTypes', input.payment_types, current)),
    beneficiaryIds: unique(merged('beneficiaryIds', input.beneficiary_ids, current)),
    perPaymentLimitMinor: merged('perPaymentLimitMinor', input.per_payment_limit_minor, current),
    dailyLimitMinor: merged('dailyLimitMinor', input.daily_limit_minor, current),
    monthlyLimitMinor: merged('monthlyLimitMinor', input.monthly_limit_minor, current),
    approvalThresholdMinor,
    requiredApprovalCount: countImplied ? implied : merged('requiredApprovalCount', count, current),
    countImplied,
    separationOfDuties: merged('separationOfDuties', input.separation_of_duties, current),
    approvalProof: merged('approvalProof', input.approval_proof, current),
    duplicateWindowSeconds: merged('duplicateWindowSeconds', input.duplicate_window_seconds, current),
    onDuplicate: merged('onDuplicate', input.on_duplicate, current),
    newPayees: merged('newPayees', input.new_payees, current),
    payeeVerification: merged('payeeVerification', input.payee_verification, current),
  }
  const problems: FieldError[] = contradictions(terms)
  if (problems.length > 0) throw invalidFields(...problems)
  return terms
}
