import { type FieldError, invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { contradictions } from '../../policy/contradictions.ts'
import type { Limits } from '../../policy/types.ts'
import type { CreatePolicy } from './schema.ts'

/** A policy's rules without a name and a place: what is stored, evaluated and replayed. */
export type PolicyTerms = Limits & {
  paymentTypes: string[]
  beneficiaryIds: Uuid[]
  requiredApprovalCount: number
  separationOfDuties: boolean
}

type PolicyInput = Omit<CreatePolicy, 'name'>

const pick = <T>(input: T | null | undefined, current: T): T => input ?? current
/** Left out: stays. Null: taken away. */
const limit = (input: bigint | null | undefined, current: bigint | null): bigint | null => (input === undefined ? current : input)
const unique = <T>(list: readonly T[]): T[] => [...new Set(list)]

const nothing: PolicyTerms = {
  paymentTypes: [],
  beneficiaryIds: [],
  perPaymentLimitMinor: null,
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  approvalThresholdMinor: null,
  requiredApprovalCount: 0,
  separationOfDuties: false,
}

/**
 * What a request means, over what stands already. A threshold without a count asks for one approval; a count without a threshold
 * asks for every payment. Throws 400 on limits that can't all be meant.
 */
export const policyTerms = (input: PolicyInput, current: PolicyTerms = nothing): PolicyTerms => {
  const approvalThresholdMinor = limit(input.approval_threshold_minor, current.approvalThresholdMinor)
  const implied = approvalThresholdMinor !== null && current.requiredApprovalCount === 0 ? 1 : current.requiredApprovalCount
  const terms: PolicyTerms = {
    paymentTypes: unique(input.payment_types === null ? [] : pick(input.payment_types, current.paymentTypes)),
    beneficiaryIds: unique(input.beneficiary_ids === null ? [] : pick(input.beneficiary_ids, current.beneficiaryIds)),
    perPaymentLimitMinor: limit(input.per_payment_limit_minor, current.perPaymentLimitMinor),
    dailyLimitMinor: limit(input.daily_limit_minor, current.dailyLimitMinor),
    monthlyLimitMinor: limit(input.monthly_limit_minor, current.monthlyLimitMinor),
    approvalThresholdMinor,
    requiredApprovalCount: input.required_approval_count ?? implied,
    separationOfDuties: input.separation_of_duties ?? current.separationOfDuties,
  }
  const problems: FieldError[] = contradictions(terms)
  if (problems.length > 0) throw invalidFields(...problems)
  return terms
}
