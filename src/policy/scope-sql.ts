/**
 * Whether a policy applies to a payment, in SQL: the rule of `policy/scope.ts`, for all rows of a table. `policy` has `payment_types` and
 * `beneficiary_ids`; `payment` has `payment_type`, `rail` and `payee_id`. A test compares the two.
 */
export const policyApplies = (policy: string, payment: string): string =>
  `(cardinality(${policy}.payment_types) = 0 or ${payment}.payment_type = any(${policy}.payment_types) or ${payment}.rail = any(${policy}.payment_types))
   and (cardinality(${policy}.beneficiary_ids) = 0 or exists (
     select from beneficiaries named where named.payee_id = ${payment}.payee_id and named.id = any(${policy}.beneficiary_ids)))`

/** The id that stands for all payees of a workspace together in `spending_totals`: no payee has it. */
export const everyPayee = '00000000-0000-0000-0000-000000000000'

/** Whether a policy's usage includes a row of `spending_totals`: the row of a payee that it names, or the row of all together. */
export const totalApplies = (policy: string, total: string): string =>
  `(cardinality(${policy}.beneficiary_ids) > 0 or ${total}.payee_id = '${everyPayee}') and ${policyApplies(policy, total)}`

/** The owner of these rows: with the workspace and the month it selects all that is read, however many payees there are. */
export const payeesOfTotals = (beneficiaryIds: string): string =>
  `array(select payee_id from beneficiaries where id = any(${beneficiaryIds}) union all select '${everyPayee}' where cardinality(${beneficiaryIds}) = 0)`

/** Whether a policy may apply to a payment to one of these payees: of a hundred policies for one payee each, only one is evaluated. */
export const mayApplyTo = (policy: string, beneficiaryIds: string): string =>
  `(cardinality(${policy}.beneficiary_ids) = 0 or ${policy}.beneficiary_ids && ${beneficiaryIds})`
