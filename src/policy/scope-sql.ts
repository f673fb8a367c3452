/**
 * Whether a policy applies to a payment, in SQL: what `policy/scope.ts` says of one payment, for all rows of a table. `policy` has
 * `payment_types` and `beneficiary_ids`; `payment` has `payment_type`, `rail` and `payee_id`. A test holds the two against each other.
 */
export const policyApplies = (policy: string, payment: string): string =>
  `(cardinality(${policy}.payment_types) = 0 or ${payment}.payment_type = any(${policy}.payment_types) or ${payment}.rail = any(${policy}.payment_types))
   and (cardinality(${policy}.beneficiary_ids) = 0 or exists (
     select from beneficiaries named where named.payee_id = ${payment}.payee_id and named.id = any(${policy}.beneficiary_ids)))`
