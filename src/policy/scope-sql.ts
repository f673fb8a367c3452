/**
 * Whether a policy applies to a payment, in SQL: the rule of `policy/scope.ts`, for all rows of a table. `policy` has `payment_types`,
 * `beneficiary_ids` and `binds_grant_id`; `payment` has `payment_type`, `rail`, `payee_id` and `grant_id`. A test compares the two.
 */
const policyApplies = (policy: string, payment: string): string =>
  `(cardinality(${policy}.payment_types) = 0 or ${payment}.payment_type = any(${policy}.payment_types) or ${payment}.rail = any(${policy}.payment_types))
   and (cardinality(${policy}.beneficiary_ids) = 0 or exists (
     select from beneficiaries named join payees paid on paid.id = ${payment}.payee_id
     where named.payee_id in (paid.id, paid.paybill_id) and named.id = any(${policy}.beneficiary_ids)))
   and (${policy}.binds_grant_id is null or ${policy}.binds_grant_id = any(
     (select g.ancestor_ids || g.id from grants g where g.id = ${payment}.grant_id)::uuid[]))`

/** In `spending_totals`, in the place of a grant: paid by a person. */
export const noGrant = '00000000-0000-0000-0000-000000000000'

/** The id that stands for all payees of a workspace together in `spending_totals`: no payee has it. */
export const everyPayee = '00000000-0000-0000-0000-000000000000'

/** Whether a policy's usage includes a row of `spending_totals`: the row of a payee that it names, or the row of all together. */
export const totalApplies = (policy: string, total: string): string =>
  `(cardinality(${policy}.beneficiary_ids) > 0 or ${total}.payee_id = '${everyPayee}') and ${policyApplies(policy, total)}`

/** The owner of these rows: with the workspace and the month it selects all that is read, however many payees there are. */
export const payeesOfTotals = (beneficiaryIds: string): string =>
  `array(select payee_id from beneficiaries where id = any(${beneficiaryIds})
     union all select y.id from beneficiaries b join payees y on y.paybill_id = b.payee_id where b.id = any(${beneficiaryIds})
     union all select '${everyPayee}' where cardinality(${beneficiaryIds}) = 0)`

/**
 * The active policies of workspaces that may apply to a payment to one of these beneficiaries; `given` is a relation whose only row has them,
 * each once, in `ids`. A policy that names one beneficiary is found by it: of a hundred of them, only one is read. (`offset 0` keeps that
 * search apart: a plan made for an empty table would read the workspace's policies instead.)
 */
export const mayApplyTo = (given: string, workspaceIds: string): string =>
  `(select p.* from ${given}, unnest(${given}.ids) as named(id) cross join lateral (
       select * from spending_policies where beneficiary_ids[1] = named.id and cardinality(beneficiary_ids) = 1 and archived_at is null offset 0) as p
     where p.workspace_id = any(${workspaceIds})
     union all
     select p.* from ${given}, spending_policies p where p.workspace_id = any(${workspaceIds}) and p.archived_at is null
       and cardinality(p.beneficiary_ids) <> 1 and (cardinality(p.beneficiary_ids) = 0 or p.beneficiary_ids && ${given}.ids))`

/** The active policies that apply to one payment. Those that name its payee alone are found by it, as above: others that name one payee cost nothing. */
export const policiesOf = (payment: string): string =>
  `(select s.* from (
       select one.* from payees paid
         cross join lateral (select id from beneficiaries where payee_id in (paid.id, paid.paybill_id) offset 0) as named
         cross join lateral (
           select * from spending_policies where beneficiary_ids[1] = named.id and cardinality(beneficiary_ids) = 1 and archived_at is null offset 0) as one
       where paid.id = ${payment}.payee_id and one.workspace_id = ${payment}.workspace_id
       union all
       select other.* from spending_policies other
       where other.workspace_id = ${payment}.workspace_id and other.archived_at is null and cardinality(other.beneficiary_ids) <> 1) as s
     where ${policyApplies('s', payment)})`

/** Those of them that separate duties. */
export const separatingPoliciesOf = (payment: string): string =>
  `(select * from ${policiesOf(payment)} as s where s.separation_of_duties)`
