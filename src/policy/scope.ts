import type { Evaluation, PaymentFacts, PolicyRules } from './types.ts'

/** A list of payment types may name the payment's own type or its rail. */
export const namesType = (list: readonly string[], payment: PaymentFacts): boolean =>
  list.includes(payment.paymentType) || list.includes(payment.rail)

/** Matches any beneficiary with the same destination: creating the same payee again does not avoid a policy. */
export const namesPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  payment.payeeBeneficiaryIds.some((id) => list.includes(id))

const appliesTo = (policy: PolicyRules, payment: PaymentFacts): boolean =>
  (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, payment)) &&
  (policy.beneficiaryIds.length === 0 || namesPayee(policy.beneficiaryIds, payment))

/** By code unit: a locale's order would differ between machines. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The policies that apply to the payment, oldest first (ids are UUIDv7), in whichever order they are passed. */
export const applicablePolicies = ({ policies, payment }: Evaluation): PolicyRules[] =>
  policies.filter((policy) => appliesTo(policy, payment)).sort((a, b) => byText(a.id, b.id))
