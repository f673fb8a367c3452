import { canSign, rulesExcluding } from '../../../auth/authority-sql.ts'
import { type Db, statement } from '../../../db/client.ts'
import { columnsOf } from '../../../db/columns.ts'
import { grantIsActive } from '../../../db/credential-life.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { balanceAccountSql } from '../../../db/tables/workspaces.ts'
import { countedPaymentsSql, paidPaymentsSql } from '../../../db/transitions.ts'
import { only } from '../../../lib/lists.ts'
import { policiesForBeneficiaries, totalStart } from '../../../policy/scope-sql.ts'

// Raw SQL: one query for any number of requests, in which each list is derived from the previous one. One plan serves lists of
// any length, so `offset 0` forces a lookup per row: a join would read a small table whole, with the rows of every tenant.

/** Parameters of the query, in order. */
const parameters = {
  workspaceIds: '$1::uuid[]',
  grantIds: '$2::uuid[]',
  beneficiaryIds: '$3::uuid[]',
  days: '$4::date[]',
  roles: '$5::text[]',
  references: '$6::text[]',
  includesProposedPolicy: '$7::boolean',
  at: '$8::timestamptz',
} as const

/** A subquery's rows as a JSON list. Amounts are strings, because JSON numbers are not exact. */
const jsonList = (columns: string, from: string): string =>
  `(select coalesce(json_agg(r), '[]') from (select ${columns} from ${from}) as r)`

/**
 * `requested`: the requested beneficiaries. `same_payee`: all beneficiaries of their payees, in one row. `applicable`: the policies
 * that may apply to payments to them.
 */
const requestedPayees = `requested as materialized (
     select beneficiary.*, payee.paybill_id, payee.frozen_at is not null as payee_frozen, coalesce(payee.paybill_id, payee.id) as family_id
     from unnest(${parameters.beneficiaryIds}) as named(id)
       cross join lateral (select * from beneficiaries where id = named.id offset 0) as beneficiary
       cross join lateral (select * from payees where id = beneficiary.payee_id offset 0) as payee),
   same_payee as materialized (
     select array(select distinct beneficiary.id from requested cross join lateral (
       select id from beneficiaries where payee_id = any(array[requested.payee_id, requested.paybill_id]
         || array(select id from payees where paybill_id = requested.payee_id and reference_key = any(${parameters.references}))) offset 0) as beneficiary) as ids),
   applicable as materialized ${policiesForBeneficiaries('same_payee', parameters.workspaceIds)}`

/** Members of workspace `w` who may decide its approvals. The policies that apply to a payment decide which of them count. */
const approvers = jsonList(
  `m.account_id as id, array${rulesExcluding('m', 'w', 'applicable', parameters.at)} as "notUnder",
   case when ${parameters.includesProposedPolicy} or exists (select from applicable p where p.workspace_id = w.id and p.approval_proof = 'signature')
     then ${canSign('m.account_id')} else false end as "canSign"`,
  `members m join accounts a on a.id = m.account_id
   where m.workspace_id = w.id and m.status = 'active' and m.role = any(${parameters.roles}) and a.status = 'active'`,
)

const workspaceColumns = `w.id, ${balanceAccountSql('w')} as "balanceAccountId", w.owning_account_id as "owningAccountId",
  w.kind, w.name, w.created_at as "createdAt", w.frozen_at is not null or w.suspended_at is not null as frozen,
  w.closed_at is not null as closed,
  w.time_zone as "timeZone", w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom",
  ${approvers} as approvers`

/** The paid beneficiary that `b` resembles, as long as `b` was never paid. */
const similarTo = `case when b.similar_to_id is not null
    and not exists (select from payments paid where paid.beneficiary_id = b.id and paid.status in ${paidPaymentsSql}) then
    (select json_build_object('beneficiaryId', resembled.id, 'name', resembled.display_name) from beneficiaries resembled where resembled.id = b.similar_to_id
       and exists (select from payments paid where paid.beneficiary_id = resembled.id and paid.status in ${paidPaymentsSql})) end`

const creatorOf = (row: string, act: 'created' | 'changed'): string =>
  `json_build_object('accountId', ${row}.${act}_by, 'grantId', ${row}.${act}_by_grant_id, 'label', ${row}.${act}_by_label)`

const beneficiaryColumns = `b.id, b.workspace_id as "workspaceId", b.payee_id as "payeeId", b.family_id as "familyId", b.display_name as "displayName",
  b.payment_rail as rail, b.destination_mask as "destinationMask", b.account_reference_required as "accountReferenceRequired",
  b.account_reference as "accountReference", b.archived_at is not null as archived,
  b.payee_frozen or coalesce((select paybill.frozen_at is not null from payees paybill where paybill.id = b.paybill_id), false) as frozen,
  array(select other.id from beneficiaries other where other.payee_id = b.payee_id) as "payeeBeneficiaryIds",
  array(select other.id from beneficiaries other where other.payee_id = b.paybill_id) as "paybillBeneficiaryIds",
  ${jsonList(
    `account.reference_key as "referenceKey", account.id as "payeeId", account.frozen_at is not null as frozen,
    array(select other.id from beneficiaries other where other.payee_id = account.id) as "beneficiaryIds"`,
    `payees account where account.paybill_id = b.payee_id and account.reference_key = any(${parameters.references})`,
  )} as accounts,
  json_build_object('confirmed', b.confirmed_at is not null, 'createdBy', ${creatorOf('b', 'created')}, 'createdAt', b.created_at,
    'change', case when b.changed_at is not null then json_build_object('by', ${creatorOf('b', 'changed')}, 'at', b.changed_at) end,
    'verification', b.verification, 'reportedName', b.reported_name, 'similarTo', ${similarTo}) as payee`

/** Rule columns common to grants and policies. */
const ruleColumns = `id, per_payment_limit_minor::text as "perPaymentLimitMinor", daily_limit_minor::text as "dailyLimitMinor",
  monthly_limit_minor::text as "monthlyLimitMinor", total_limit_minor::text as "totalLimitMinor",
  approval_threshold_minor::text as "approvalThresholdMinor", payment_types as "paymentTypes", beneficiary_ids as "beneficiaryIds", new_payees as "newPayees", on_duplicate as "onDuplicate"`
const grantColumns = `${ruleColumns}, label as name,
  case when total_seeded_at is not null then 'epoch'::timestamptz end as "totalCountedSince",
  not ${grantIsActive('grants', parameters.at)} as ended, cardinality(ancestor_ids) as depth`
const policyColumns = `${ruleColumns}, workspace_id as "workspaceId", name, version, binds_grant_id as "bindsGrantId",
  required_approval_count as "requiredApprovalCount", separation_of_duties as "separationOfDuties",
  approver_ids as "approverIds", approval_proof as "approvalProof", total_counted_since as "totalCountedSince",
  duplicate_window_seconds as "duplicateWindowSeconds", payee_verification as "payeeVerification"`

const approvals = `coalesce((select required_approvals from approvals a where a.id = p.approval_id), (p.mandate_id is not null)::int)`
const ofPayee = `select p.* from payments p where p.payee_id = payee.id and p.counted_day = any(${parameters.days}) and p.status in ${countedPaymentsSql}`

/**
 * The day's payments by number of approvals. Read only if a policy or grant has an approval threshold, which also limits the
 * number of unapproved rows. Approved payments are read only if a policy requires several approvals. A proposed policy may do both.
 */
const unapproved = jsonList(
  `paid.family_id as "familyId", paid.counted_day as day, paid.payment_type as "paymentType", paid.rail, paid.approvals,
   paid.minor::text as "amountMinor", array(select unnest(g.ancestor_ids || g.id) from grants g where g.id = paid.grant_id) as "grantLineage"`,
  `(select family.id as family_id, p.counted_day, p.payment_type, p.rail, p.grant_id, ${approvals} as approvals, sum(p.amount_minor) as minor
    from (select distinct family_id from requested) as family(id)
    cross join lateral (select family.id union all select id from payees where paybill_id = family.id) as payee(id)
    cross join lateral (
      (${ofPayee} and p.approval_id is null and p.mandate_id is null offset 0)
      union all
      (${ofPayee} and (p.approval_id is not null or p.mandate_id is not null)
         and (${parameters.includesProposedPolicy} or exists (select from applicable where approval_threshold_minor is not null and required_approval_count > 1)) offset 0)) as p
    where ${parameters.includesProposedPolicy} or exists (select from applicable where approval_threshold_minor is not null)
      or exists (select from grants g where g.id = any(${parameters.grantIds}) and g.approval_threshold_minor is not null)
    group by 1, 2, 3, 4, 5, 6) as paid`,
)

/** Takes no row locks: a transaction that freezes, revokes, archives or changes these rows locks the account, as decisions do. */
const stateOf = statement('payments.state', 'record')`
  with ${requestedPayees}
   select
    ${jsonList(workspaceColumns, `workspaces w where w.id = any(${parameters.workspaceIds})`)} as workspaces,
    ${jsonList(columnsOf(accounts, 'a'), `accounts a where a.id = any(array(select ${balanceAccountSql('w')} from workspaces w where w.id = any(${parameters.workspaceIds})))`)} as holders,
    ${jsonList(beneficiaryColumns, 'requested b')} as beneficiaries,
    ${jsonList(grantColumns, `grants where id = any(${parameters.grantIds})`)} as grants,
    ${jsonList(policyColumns, 'applicable')} as policies,
    ${jsonList(
      `c.subject_id as "subjectId", c.period, c.period_start as "periodStart", c.used_minor::text as "usedMinor"`,
      `usage_counters c where c.subject_id = any(array(select unnest(${parameters.grantIds}) union all select id from applicable))
         and c.period in ('day', 'month', 'total') and c.period_start = any(${parameters.days} || date '${totalStart}')`,
    )} as usage,
    ${unapproved} as unapproved`

type Parameter = keyof typeof parameters

/** Reads the lists of `state.ts`, in one row. `Row`: their types. */
export const readStateRow = async <Row extends object>(db: Db, values: Readonly<Record<Parameter, unknown>>): Promise<Row> =>
  only(
    await db.query<Row>(
      stateOf,
      (Object.keys(parameters) as Parameter[]).map((name) => values[name]),
    ),
  )
