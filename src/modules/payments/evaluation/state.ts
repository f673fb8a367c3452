import { canSign, notCountedUnder } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import { type Db, statement } from '../../../db/client.ts'
import { columnsOf } from '../../../db/columns.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { balanceAccountSql } from '../../../db/tables/workspaces.ts'
import { countedPaymentsSql, paidPaymentsSql } from '../../../db/transitions.ts'
import { referenceKey, takesAnyReference } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import type { ZoneSchedule } from '../../../policy/calendar.ts'
import { mayApplyTo, totalStart } from '../../../policy/scope-sql.ts'
import type { Charge, GrantRules, PayeeFacts, Periods, PolicyRules, Unapproved } from '../../../policy/types.ts'
import type { AccountRecord } from '../../identity/accounts/queries.ts'

export type WorkspaceState = ZoneSchedule & {
  id: Uuid
  /** The account that holds the workspace's balance. */
  balanceAccountId: Uuid
  owningAccountId: Uuid
  kind: 'personal' | 'team'
  name: string
  createdAt: Date
  frozen: boolean
  closed: boolean
  approvers: readonly ApproverState[]
}
/** `canSign`: false if no policy that may apply requires signatures. `notUnder`: policies under which it does not count yet. */
type ApproverState = { id: Uuid; canSign: boolean; notUnder: readonly Uuid[] }
export type BeneficiaryState = {
  id: Uuid
  workspaceId: Uuid
  payeeId: Uuid
  /** For an account at a paybill, the paybill's payee; otherwise the payee itself. */
  familyId: Uuid
  displayName: string
  rail: RailName
  destinationMask: string
  accountReferenceRequired: boolean
  accountReference: string | null
  takesAnyReference: boolean
  archived: boolean
  frozen: boolean
  payee: Omit<PayeeFacts, 'typicalAmountMinor'>
  /** Every beneficiary with the same payee, this one included. */
  payeeBeneficiaryIds: readonly Uuid[]
  /** Beneficiaries of the paybill, if the payee is an account at one. */
  paybillBeneficiaryIds: readonly Uuid[]
  /** Payees of the requested accounts at this paybill. */
  accounts: readonly AccountState[]
}
type AccountState = { referenceKey: string; payeeId: Uuid; frozen: boolean; beneficiaryIds: Uuid[] }
export type GrantState = Omit<GrantRules, 'usage'> & { revoked: boolean; depth: number }
export type PolicyState = Omit<PolicyRules, 'usage'> & { workspaceId: Uuid }

/** The state that decisions depend on, read after the locks. Each accepted payment adds to `usage` and `unapproved`. */
export type LockedState = {
  /** Accounts that hold the workspaces' balances. */
  holders: ReadonlyMap<Uuid, AccountRecord>
  workspaces: ReadonlyMap<Uuid, WorkspaceState>
  beneficiaries: ReadonlyMap<Uuid, BeneficiaryState>
  grants: ReadonlyMap<Uuid, GrantState>
  /** The policies that may apply to a payment to one of the beneficiaries. */
  policies: ReadonlyMap<Uuid, readonly PolicyState[]>
  usage: Map<string, Minor>
  /** Paid amounts by `familyDay` and number of approvals, for approval thresholds. Empty if no threshold may apply. */
  unapproved: Map<string, readonly Unapproved[]>
  /** The first local date of each day and month whose usage was read. */
  periodStarts: ReadonlySet<string>
}

/** `familyId`: the payee or, for an account at a paybill, the paybill's payee. */
export const familyDay = (familyId: Uuid, day: string): string => `${familyId} ${day}`

export const usageKey = (subjectId: Uuid, period: string, start: string | null): string => `${subjectId} ${period} ${start}`

export const addUsage = ({ usage }: LockedState, charges: readonly Charge[], amountMinor: Minor): void => {
  for (const { subjectId, period, periodStart } of charges) {
    const key = usageKey(subjectId, period, periodStart)
    usage.set(key, (usage.get(key) ?? 0n) + amountMinor)
  }
}

// Raw SQL: one query for any number of requests, in which each list is derived from the previous one. One plan serves lists of
// any length, so `offset 0` forces a lookup per row: a join would read a small table whole, with the rows of every tenant.

/** Parameters of the query, in order. */
const given = {
  workspaceIds: '$1::uuid[]',
  grantIds: '$2::uuid[]',
  beneficiaryIds: '$3::uuid[]',
  days: '$4::date[]',
  roles: '$5::text[]',
  references: '$6::text[]',
  isProposed: '$7::boolean',
  at: '$8::timestamptz',
} as const

/** A subquery's rows as a JSON list. Amounts are strings, because JSON numbers are not exact. */
const list = (columns: string, from: string): string =>
  `(select coalesce(json_agg(r), '[]') from (select ${columns} from ${from}) as r)`

/**
 * `asked`: the requested beneficiaries. `same_payee`: all beneficiaries of their payees, in one row. `applicable`: the policies
 * that may apply to payments to them.
 */
const asked = `asked as materialized (
     select beneficiary.*, payee.paybill_id, payee.frozen_at is not null as payee_frozen, coalesce(payee.paybill_id, payee.id) as family_id
     from unnest(${given.beneficiaryIds}) as named(id)
       cross join lateral (select * from beneficiaries where id = named.id offset 0) as beneficiary
       cross join lateral (select * from payees where id = beneficiary.payee_id offset 0) as payee),
   same_payee as materialized (
     select array(select distinct beneficiary.id from asked cross join lateral (
       select id from beneficiaries where payee_id = any(array[asked.payee_id, asked.paybill_id]
         || array(select id from payees where paybill_id = asked.payee_id and reference_key = any(${given.references}))) offset 0) as beneficiary) as ids),
   applicable as materialized ${mayApplyTo('same_payee', given.workspaceIds)}`

/** Members of workspace `w` who may decide its approvals. The policies that apply to a payment decide which of them count. */
const approvers = list(
  `m.account_id as id, array${notCountedUnder('m', 'w', 'applicable', given.at)} as "notUnder",
   case when ${given.isProposed} or exists (select from applicable p where p.workspace_id = w.id and p.approval_proof = 'signature')
     then ${canSign('m.account_id')} else false end as "canSign"`,
  `members m join accounts a on a.id = m.account_id
   where m.workspace_id = w.id and m.status = 'active' and m.role = any(${given.roles}) and a.status = 'active'`,
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
  ${list(
    `account.reference_key as "referenceKey", account.id as "payeeId", account.frozen_at is not null as frozen,
    array(select other.id from beneficiaries other where other.payee_id = account.id) as "beneficiaryIds"`,
    `payees account where account.paybill_id = b.payee_id and account.reference_key = any(${given.references})`,
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
  revoked_at is not null as revoked, cardinality(ancestor_ids) as depth`
const policyColumns = `${ruleColumns}, workspace_id as "workspaceId", name, version, binds_grant_id as "bindsGrantId",
  required_approval_count as "requiredApprovalCount", separation_of_duties as "separationOfDuties",
  approver_ids as "approverIds", approval_proof as "approvalProof", total_counted_since as "totalCountedSince",
  duplicate_window_seconds as "duplicateWindowSeconds", payee_verification as "payeeVerification"`

const approvals = `coalesce((select required_approvals from approvals a where a.id = p.approval_id), (p.mandate_id is not null)::int)`
const ofPayee = `select p.* from payments p where p.payee_id = payee.id and p.counted_day = any(${given.days}) and p.status in ${countedPaymentsSql}`

/**
 * The day's payments by number of approvals. Read only if a policy or grant has an approval threshold, which also limits the
 * number of unapproved rows. Approved payments are read only if a policy requires several approvals. A proposed policy may do both.
 */
const unapproved = list(
  `paid.family_id as "familyId", paid.counted_day as day, paid.payment_type as "paymentType", paid.rail, paid.approvals,
   paid.minor::text as "amountMinor", array(select unnest(g.ancestor_ids || g.id) from grants g where g.id = paid.grant_id) as "grantLineage"`,
  `(select family.id as family_id, p.counted_day, p.payment_type, p.rail, p.grant_id, ${approvals} as approvals, sum(p.amount_minor) as minor
    from (select distinct family_id from asked) as family(id)
    cross join lateral (select family.id union all select id from payees where paybill_id = family.id) as payee(id)
    cross join lateral (
      (${ofPayee} and p.approval_id is null and p.mandate_id is null offset 0)
      union all
      (${ofPayee} and (p.approval_id is not null or p.mandate_id is not null)
         and (${given.isProposed} or exists (select from applicable where approval_threshold_minor is not null and required_approval_count > 1)) offset 0)) as p
    where ${given.isProposed} or exists (select from applicable where approval_threshold_minor is not null)
      or exists (select from grants g where g.id = any(${given.grantIds}) and g.approval_threshold_minor is not null)
    group by 1, 2, 3, 4, 5, 6) as paid`,
)

/** Takes no row locks: a transaction that freezes, revokes, archives or changes these rows locks the account, as decisions do. */
const read = statement('payments.state', 'record')`
  with ${asked}
   select
    ${list(workspaceColumns, `workspaces w where w.id = any(${given.workspaceIds})`)} as workspaces,
    ${list(columnsOf(accounts, 'a'), `accounts a where a.id = any(array(select ${balanceAccountSql('w')} from workspaces w where w.id = any(${given.workspaceIds})))`)} as holders,
    ${list(beneficiaryColumns, 'asked b')} as beneficiaries,
    ${list(grantColumns, `grants where id = any(${given.grantIds})`)} as grants,
    ${list(policyColumns, 'applicable')} as policies,
    ${list(
      `c.subject_id as "subjectId", c.period, c.period_start as "periodStart", c.used_minor::text as "usedMinor"`,
      `usage_counters c where c.subject_id = any(array(select unnest(${given.grantIds}) union all select id from applicable))
         and c.period in ('day', 'month', 'total') and c.period_start = any(${given.days} || date '${totalStart}')`,
    )} as usage,
    ${unapproved} as unapproved`

type StateRow = {
  workspaces: WorkspaceState[]
  holders: AccountRecord[]
  beneficiaries: Omit<BeneficiaryState, 'takesAnyReference'>[]
  grants: GrantState[]
  policies: PolicyState[]
  usage: { subjectId: Uuid; period: string; periodStart: string; usedMinor: Minor }[]
  unapproved: (Unapproved & { familyId: Uuid; day: string })[]
}

/** Converts JSON strings to amounts and times in place. Name endings select them, because a list of names could miss a column. */
const revive = (row: Record<string, unknown>): void => {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') {
      if (name.endsWith('Minor')) row[name] = BigInt(value)
      else if (name === 'at' || /(At|Since|ZoneFrom)$/.test(name)) row[name] = new Date(value)
    } else if (Array.isArray(value)) {
      if (typeof value[0] === 'object') for (const each of value) revive(each)
    } else if (typeof value === 'object' && value !== null) revive(value as Record<string, unknown>)
  }
}

const unique = (items: readonly string[]): string[] => [...new Set(items)]

const byId = <Value extends { id: Uuid }>(rows: readonly Value[]): Map<Uuid, Value> =>
  new Map(rows.map((value) => [value.id, value]))

/** Adds up counters: a subject whose payments used two balances has one counter for each. */
const usageOf = (rows: StateRow['usage']): LockedState['usage'] => {
  const usage: LockedState['usage'] = new Map()
  for (const { subjectId, period, periodStart, usedMinor } of rows) {
    const key = usageKey(subjectId, period, period === 'total' ? null : periodStart)
    usage.set(key, (usage.get(key) ?? 0n) + usedMinor)
  }
  return usage
}

const unapprovedOf = (rows: StateRow['unapproved']): LockedState['unapproved'] => {
  const grouped = Map.groupBy(rows, ({ familyId, day }) => familyDay(familyId, day))
  return new Map([...grouped].map(([key, group]) => [key, group.map(({ familyId, day, ...row }) => row)]))
}

/** `accountReference`: the reference in the payment, not the beneficiary's. */
export type PaidTo = { workspaceId: Uuid; beneficiaryId: Uuid; accountReference: string | null }

export type StateQuery = {
  payments: readonly PaidTo[]
  /** The requesting grants and their ancestors. */
  grantIds: readonly Uuid[]
  periods: readonly Pick<Periods, 'day' | 'month'>[]
  /** Time of the decision. A new approver may count only after 24 hours. */
  at: Date
  /** Reads the rows that any rule needs, for a proposed policy, which is not stored. */
  isProposed?: boolean
}

/** Reads the state for decisions on these payments, in one round trip. */
export const readState = async (db: Db, query: StateQuery): Promise<LockedState> => {
  const { payments } = query
  const periodStarts = new Set(query.periods.flatMap(({ day, month }) => [day, month]))
  const references = payments.flatMap(({ accountReference }) => (accountReference === null ? [] : referenceKey(accountReference)))
  const row = only(
    await db.query<StateRow>(read, [
      unique(payments.map(({ workspaceId }) => workspaceId)),
      unique(query.grantIds),
      unique(payments.map(({ beneficiaryId }) => beneficiaryId)),
      [...periodStarts],
      decidingRoles,
      unique(references),
      query.isProposed ?? false,
      query.at,
    ]),
  )
  revive(row)
  return {
    holders: byId(row.holders),
    workspaces: byId(row.workspaces),
    beneficiaries: byId(
      row.beneficiaries.map((each) => ({ ...each, takesAnyReference: takesAnyReference({ ...each, paymentRail: each.rail }) })),
    ),
    grants: byId(row.grants),
    policies: Map.groupBy(row.policies, ({ workspaceId }) => workspaceId),
    usage: usageOf(row.usage),
    unapproved: unapprovedOf(row.unapproved),
    periodStarts,
  }
}
