import { invalidFields } from '../../lib/errors.ts'
import { type PolicyField, type PolicyFields, policyFieldNames, policyFields, wireName } from '../../policy/fields.ts'
import { contradictions } from '../../policy/limits.ts'
import type { CreatePolicy } from './schema.ts'

type Stored<Value> = Value extends readonly (infer Item)[] ? Item[] : Value

/** A policy's fields as they are stored, evaluated and replayed. */
export type PolicyTerms = { [Field in PolicyField]: Stored<PolicyFields[Field]> } & {
  /** Whether the count is derived from the threshold, because the policy sets none. */
  countImplied: boolean
}

/**
 * The terms that result from a request: an absent field keeps its current value, and null removes it. A threshold alone requires
 * one approval; a count without a threshold applies to every payment. Throws 400 if limits contradict each other. `under`: the
 * prefix of their paths.
 */
export const policyTerms = (input: Omit<CreatePolicy, 'name'>, current?: PolicyTerms, under = ''): PolicyTerms => {
  const requested: Readonly<Record<string, unknown>> = input
  const merged = (field: PolicyField): unknown => {
    const given = requested[wireName(field)]
    if (given === undefined && current) return current[field]
    const value = given ?? policyFields[field].absent
    // An empty list of approvers means every approver, like null.
    if (field === 'approverIds' && Array.isArray(value) && value.length === 0) return null
    return Array.isArray(value) ? [...new Set(value)] : value
  }
  const fields = Object.fromEntries(policyFieldNames.map((field) => [field, merged(field)])) as Omit<PolicyTerms, 'countImplied'>
  const { required_approval_count: count } = input
  const hasThreshold = fields.approvalThresholdMinor !== null
  const countImplied = count === undefined ? (current?.countImplied ?? true) : count === null || (count === 0 && !hasThreshold)
  const terms = { ...fields, countImplied, ...(countImplied && { requiredApprovalCount: hasThreshold ? 1 : 0 }) }
  const problems = contradictions(terms, under)
  if (problems.length > 0) throw invalidFields(...problems)
  return terms
}
