import { type FieldError, invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { contradictions } from '../../policy/contradictions.ts'
import type { Limits, PolicyRules } from '../../policy/types.ts'
import type { CreatePolicy } from './schema.ts'

/** A policy's rules without its name and id: what is stored, evaluated and replayed. */
export type PolicyTerms = Limits & {
  paymentTypes: string[]
  beneficiaryIds: Uuid[]
  requiredApprovalCount: number
  /** The count was derived from the threshold, because the policy names none. */
  countImplied: boolean
  separationOfDuties: boolean
  duplicateWindowSeconds: number | null
  onDuplicate: PolicyRules['onDuplicate']
}

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)]

type PolicyInput = Omit<CreatePolicy, 'name'>

const pick = <T>(input: T | null | undefined, current: T): T => input ?? current
/** Left out: stays. Null: removed. */
const orCleared = <T>(input: T | null | undefined, current: T | null): T | null => (input === undefined ? current : input)

const nothing: PolicyTerms = {
  paymentTypes: [],
  beneficiaryIds: [],
  perPaymentLimitMinor: null,
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  approvalThresholdMinor: null,
  requiredApprovalCount: 0,
  countImplied: true,
  separationOfDuties: false,
  duplicateWindowSeconds: null,
  onDuplicate: null,
}

/**
 * What a request means, given the rules that exist already. A threshold without a count asks for one approval; a count without a threshold
 * asks for every payment. Throws 400 on limits that contradict each other.
 */
export const policyTerms = (input: PolicyInput, current: PolicyTerms = nothing): PolicyTerms => {
  const approvalThresholdMinor = orCleared(input.approval_threshold_minor, current.approvalThresholdMinor)
  const count = input.required_approval_count
  const countImplied =
    count === undefined ? current.countImplied : count === null || (count === 0 && approvalThresholdMinor === null)
  const implied = approvalThresholdMinor === null ? 0 : 1
  const terms: PolicyTerms = {
    paymentTypes: unique(input.payment_types === null ? [] : pick(input.payment_types, current.paymentTypes)),
    beneficiaryIds: unique(input.beneficiary_ids === null ? [] : pick(input.beneficiary_ids, current.beneficiaryIds)),
    perPaymentLimitMinor: orCleared(input.per_payment_limit_minor, current.perPaymentLimitMinor),
    dailyLimitMinor: orCleared(input.daily_limit_minor, current.dailyLimitMinor),
    monthlyLimitMinor: orCleared(input.monthly_limit_minor, current.monthlyLimitMinor),
    approvalThresholdMinor,
    requiredApprovalCount: countImplied ? implied : (count ?? current.requiredApprovalCount),
    countImplied,
    separationOfDuties:
      input.separation_of_duties === null ? false : pick(input.separation_of_duties, current.separationOfDuties),
    duplicateWindowSeconds: orCleared(input.duplicate_window_seconds, current.duplicateWindowSeconds),
    onDuplicate: orCleared(input.on_duplicate, current.onDuplicate),
  }
  const problems: FieldError[] = contradictions(terms)
  if (problems.length > 0) throw invalidFields(...problems)
  return terms
}
