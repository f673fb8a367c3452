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

type Given = Omit<CreatePolicy, 'name'>

const pick = <T>(given: T | null | undefined, standing: T): T => given ?? standing
/** Left out: stays. Null: taken away. */
const limit = (given: bigint | null | undefined, standing: bigint | null): bigint | null =>
  given === undefined ? standing : given
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
export const policyTerms = (given: Given, standing: PolicyTerms = nothing): PolicyTerms => {
  const approvalThresholdMinor = limit(given.approval_threshold_minor, standing.approvalThresholdMinor)
  const implied = approvalThresholdMinor !== null && standing.requiredApprovalCount === 0 ? 1 : standing.requiredApprovalCount
  const terms: PolicyTerms = {
    paymentTypes: unique(given.payment_types === null ? [] : pick(given.payment_types, standing.paymentTypes)),
    beneficiaryIds: unique(given.beneficiary_ids === null ? [] : pick(given.beneficiary_ids, standing.beneficiaryIds)),
    perPaymentLimitMinor: limit(given.per_payment_limit_minor, standing.perPaymentLimitMinor),
    dailyLimitMinor: limit(given.daily_limit_minor, standing.dailyLimitMinor),
    monthlyLimitMinor: limit(given.monthly_limit_minor, standing.monthlyLimitMinor),
    approvalThresholdMinor,
    requiredApprovalCount: given.required_approval_count ?? implied,
    separationOfDuties: given.separation_of_duties ?? standing.separationOfDuties,
  }
  const problems: FieldError[] = contradictions(terms)
  if (problems.length > 0) throw invalidFields(...problems)
  return terms
}
