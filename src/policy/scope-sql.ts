/**
 * SQL condition: `policy` applies to `payment`, as in `policy/scope.ts`; a test compares the two. `policy` has `payment_types`,
 * `beneficiary_ids` and `binds_grant_id`; `payment` has `payment_type`, `rail`, `payee_id` and `grant_id`.
 */
export const policyApplies = (policy: string, payment: string): string =>
  `(cardinality(${policy}.payment_types) = 0 or ${payment}.payment_type = any(${policy}.payment_types) or ${payment}.rail = any(${policy}.payment_types))
   and (cardinality(${policy}.beneficiary_ids) = 0 or exists (
     select from beneficiaries named join payees paid on paid.id = ${payment}.payee_id
     where named.payee_id in (paid.id, paid.paybill_id) and named.id = any(${policy}.beneficiary_ids)))
   and (${policy}.binds_grant_id is null or ${policy}.binds_grant_id = any(
     (select g.ancestor_ids || g.id from grants g where g.id = ${payment}.grant_id)::uuid[]))`

/** The period start of a total, which has no period, so that all counters have the same kind of key. */
export const totalStart = '0001-01-01'

/** Whether a payment is part of a policy's total (`countsInTotal`). */
export const isInTotal = (policy: string, payment: string): string =>
  `coalesce(coalesce(${payment}.execute_at, ${payment}.created_at) >= ${policy}.total_counted_since, false)`

/** The grant in `spending_totals` for payments by a person, who has none. */
export const noGrant = '00000000-0000-0000-0000-000000000000'

/** In `spending_totals`: the payee of rows that sum all payees of a workspace. */
export const everyPayee = '00000000-0000-0000-0000-000000000000'

/** Selects the rows of the payees that a policy names, or the row for all payees. */
export const totalApplies = (policy: string, total: string): string =>
  `(cardinality(${policy}.beneficiary_ids) > 0 or ${total}.payee_id = '${everyPayee}') and ${policyApplies(policy, total)}`

/** With the workspace and the month, reads only the needed rows, however many payees there are. */
const payeesOfTotals = (beneficiaryIds: string): string =>
  `array(select payee_id from beneficiaries where id = any(${beneficiaryIds})
     union all select y.id from beneficiaries b join payees y on y.paybill_id = b.payee_id where b.id = any(${beneficiaryIds})
     union all select '${everyPayee}' where cardinality(${beneficiaryIds}) = 0)`

/**
 * Totals of a month that count under a policy, as `t`. $2: the month's first day. $3: the workspace. $4 to $6: the policy's
 * payment types, beneficiaries and grant.
 */
export const countedTotals = `spending_totals t cross join (
    select $4::text[] as payment_types, $5::uuid[] as beneficiary_ids, $6::uuid as binds_grant_id) as s
  where t.workspace_id = $3 and t.payee_id = any(${payeesOfTotals('$5::uuid[]')})
    and t.day >= $2::date and t.day < ($2::date + interval '1 month') and ${totalApplies('s', 't')}`

/**
 * Active policies that may apply to a payment to one of these beneficiaries (`ids` of `given`'s only row), each once. An index
 * finds policies that name one beneficiary. `offset 0`: a plan for an empty table would read all policies.
 */
export const policiesForBeneficiaries = (given: string, workspaceIds: string): string =>
  `(select p.* from ${given}, unnest(${given}.ids) as named(id) cross join lateral (
       select * from spending_policies where beneficiary_ids[1] = named.id and cardinality(beneficiary_ids) = 1 and archived_at is null offset 0) as p
     where p.workspace_id = any(${workspaceIds})
     union all
     select p.* from ${given}, spending_policies p where p.workspace_id = any(${workspaceIds}) and p.archived_at is null
       and cardinality(p.beneficiary_ids) <> 1 and (cardinality(p.beneficiary_ids) = 0 or p.beneficiary_ids && ${given}.ids))`

/** Active policies that apply to one payment, with the same lookup of policies that name one beneficiary. */
export const policiesForPayment = (payment: string): string =>
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

/** Accounts named by all policies `s` with a list that meet `condition` (as in `namedApprovers`); null if there is none. */
export const namedApproversSql = (condition: string): string =>
  `(with lists as materialized (
       select s.approver_ids from spending_policies s where ${condition} and s.archived_at is null and cardinality(s.approver_ids) > 0)
     select case when exists (select from lists) then array(
       select named.id from lists cross join lateral unnest(lists.approver_ids) as named(id)
       group by named.id having count(*) = (select count(*) from lists) order by named.id) end)`

export const separatingPoliciesOf = (payment: string): string =>
  `(select * from ${policiesForPayment(payment)} as s where s.separation_of_duties)`
