import type { PaymentFacts } from './types.ts'

/** A list of payment types may name the payment's own type or its rail. */
export const namesType = (list: readonly string[], payment: PaymentFacts): boolean =>
  list.includes(payment.paymentType) || list.includes(payment.rail)

/** Matches any beneficiary with the same destination: creating the same payee again does not avoid a policy. */
export const namesPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  payment.payeeBeneficiaryIds.some((id) => list.includes(id))

/** By code unit: a locale's order would differ between machines. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
