import { canSign, countsUnder } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import { type Db, statement } from '../../../db/client.ts'
import { plainList, textList } from '../../../db/lists.ts'
import {
  amountOf,
  asIs,
  type Fields,
  fieldsReader,
  instantOf,
  isTrue,
  listOf,
  numberOf,
  quoted,
  quotedOf,
  readInstant,
  recordsColumn,
  recordsReader,
  splitRecords,
  sqlOf,
  textOf,
} from '../../../db/records.ts'
import { referenceKey, takesAnyReference } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { ApprovalProof } from '../../../lib/policy-answers.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import { mayApplyTo } from '../../../policy/scope-sql.ts'
import type { GrantRules, Limits, PayeeFacts, Periods, PolicyRules } from '../../../policy/types.ts'
import type { AccountRecord } from '../../identity/accounts/queries.ts'
import {
  askedPayees,
  makerFields,
  readPayeeFacts,
  readUnapproved,
  type UnapprovedState,
  unapprovedColumn,
} from './state-parts.ts'

export type WorkspaceState = {
  id: Uuid
  ownerId: Uuid
  frozen: boolean
  closed: boolean
  zone: { timeZone: string; nextTimeZone: string | null; nextFrom: Date | null }
  approverAccountIds: Uuid[]
  /** Those of them that can sign; empty where no policy that may apply asks for signatures. */
  signingAccountIds: Uuid[]
}
export type BeneficiaryState = {
  id: Uuid
  workspaceId: Uuid
  payeeId: Uuid
  /** The payee of the whole paybill, of an account at one; else the payee itself. */
  familyId: Uuid
  displayName: string
  rail: RailName
  destinationMask: string
  accountReferenceRequired: boolean
  /** Fixed: every payment uses it. */
  accountReference: string | null
  takesAnyReference: boolean
  archived: boolean
  frozen: boolean
  /** Who made it, and whether a person has confirmed it. */
  payee: Omit<PayeeFacts, 'typicalAmountMinor'>
  /** Every beneficiary with the same payee, this one included. */
  payeeBeneficiaryIds: readonly Uuid[]
  /** Those of the paybill at which the payee is an account. */
  paybillBeneficiaryIds: readonly Uuid[]
  /** The payees that are accounts at this paybill: those that the requests name. */
  accounts: readonly AccountState[]
}
type AccountState = { referenceKey: string; payeeId: Uuid; frozen: boolean; beneficiaryIds: Uuid[] }
export type GrantState = Omit<GrantRules, 'usage'> & { frozen: boolean; revoked: boolean; depth: number }
export type PolicyState = Omit<PolicyRules, 'usage'> & { workspaceId: Uuid }

/** Everything that decisions depend on, as it is under the locks of the deciding transaction. Each decision adds to `usage`. */
export type LockedState = {
  owners: ReadonlyMap<Uuid, AccountRecord>
  workspaces: ReadonlyMap<Uuid, WorkspaceState>
  beneficiaries: ReadonlyMap<Uuid, BeneficiaryState>
  grants: ReadonlyMap<Uuid, GrantState>
  /** The policies that may apply to a payment to one of the beneficiaries. */
  policies: ReadonlyMap<Uuid, readonly PolicyState[]>
  usage: Map<string, Minor>
  /** What was paid without an approval, where a threshold may apply. Each decision adds to it. */
  unapproved: UnapprovedState
  /** The first local date of each day and month whose usage was read. */
  periodStarts: ReadonlySet<string>
}

export const usageKey = (subjectId: Uuid, period: string, start: string | null): string => `${subjectId} ${period} ${start}`

// Rows as records: built as JSON, two thirds of the statement's time went into naming and typing each value.

const limitFields: Fields<Limits> = {
  perPaymentLimitMinor: ['per_payment_limit_minor', amountOf],
  dailyLimitMinor: ['daily_limit_minor', amountOf],
  monthlyLimitMinor: ['monthly_limit_minor', amountOf],
  approvalThresholdMinor: ['approval_threshold_minor', amountOf],
}

/** Members of workspace `w` that may decide its approvals, and count under the policies that may apply. */
const approversOf = (further: string): string =>
  `array(select m.account_id from members m join accounts a on a.id = m.account_id
     where m.workspace_id = w.id and m.status = 'active' and m.role = any($5::text[]) and a.status = 'active'
       and ${countsUnder('m', 'w', 'applicable', '$8::timestamptz')} ${further})`

const workspaceFields = [
  'w.id',
  'w.owning_account_id',
  'w.frozen_at is not null or w.suspended_at is not null',
  'w.closed_at is not null',
  'w.time_zone',
  'w.next_time_zone',
  'w.next_time_zone_from',
  approversOf(''),
  `case when $7::boolean or exists (select from applicable p where p.workspace_id = w.id and p.approval_proof = 'signature')
     then ${approversOf(`and ${canSign('m.account_id')}`)} else '{}' end`,
]
const ownerFields = [
  'a.id',
  'a.status',
  quoted('a.email'),
  quoted('a.display_name'),
  'a.topups_enabled',
  'a.payments_enabled',
  'a.api_keys_enabled',
  'a.oauth_enabled',
  'a.is_admin',
  'a.created_at',
  'a.updated_at',
]
const beneficiaryFields = [
  'b.id',
  'b.workspace_id',
  'b.payee_id',
  'b.family_id',
  quoted('b.display_name'),
  'b.payment_rail',
  quoted('b.destination_mask'),
  'b.account_reference_required',
  quoted('b.account_reference'),
  'b.archived_at is not null',
  ...makerFields,
  'b.payee_frozen or coalesce((select z.frozen_at is not null from payees z where z.id = b.paybill_id), false)',
  'array(select x.id from beneficiaries x where x.payee_id = b.payee_id)',
  'array(select x.id from beneficiaries x where x.payee_id = b.paybill_id)',
  `(select json_agg(json_build_object('referenceKey', z.reference_key, 'payeeId', z.id, 'frozen', z.frozen_at is not null,
      'beneficiaryIds', array(select x.id from beneficiaries x where x.payee_id = z.id)))
    from payees z where z.paybill_id = b.payee_id and z.reference_key = any($6::text[]))`,
]
const grantFields: Fields<GrantState> = {
  id: ['id', asIs],
  name: [quoted('label'), JSON.parse],
  ...limitFields,
  paymentTypes: [quoted('payment_types'), quotedOf],
  beneficiaryIds: [quoted('beneficiary_ids'), quotedOf],
  newPayees: ['new_payees', textOf],
  onDuplicate: ['on_duplicate', textOf],
  frozen: ['frozen_at is not null', isTrue],
  revoked: ['revoked_at is not null', isTrue],
  depth: ['cardinality(ancestor_ids)', Number],
}
const policyFields: Fields<PolicyState> = {
  id: ['id', asIs],
  workspaceId: ['workspace_id', asIs],
  name: [quoted('name'), JSON.parse],
  version: ['version', Number],
  bindsGrantId: ['binds_grant_id', textOf],
  ...limitFields,
  paymentTypes: [quoted('payment_types'), JSON.parse],
  beneficiaryIds: ['beneficiary_ids', listOf],
  requiredApprovalCount: ['required_approval_count', Number],
  separationOfDuties: ['separation_of_duties', isTrue],
  approvalProof: ['approval_proof', (text) => text as ApprovalProof],
  duplicateWindowSeconds: ['duplicate_window_seconds', numberOf],
  onDuplicate: ['on_duplicate', textOf],
  newPayees: ['new_payees', textOf],
  payeeVerification: ['payee_verification', textOf],
}

/**
 * One row for any number of requests, and no row locks: a transaction that freezes, revokes, archives or changes one of these holds the
 * account's lock, which the deciding transaction holds too.
 */
const read = statement(
  'payments.state',
  `with ${askedPayees},
   applicable as materialized ${mayApplyTo('same_payee', '$1::uuid[]')}
   select
    ${recordsColumn(workspaceFields, 'workspaces w where w.id = any($1::uuid[])')} as workspaces,
    ${recordsColumn(ownerFields, 'accounts a where a.id = any(array(select owning_account_id from workspaces where id = any($1::uuid[])))')} as owners,
    ${recordsColumn(beneficiaryFields, 'asked b')} as beneficiaries,
    ${recordsColumn(sqlOf(grantFields), 'grants where id = any($2::uuid[])')} as grants,
    ${recordsColumn(sqlOf(policyFields), 'applicable')} as policies,
    ${recordsColumn(
      ['c.subject_id', 'c.period', 'c.period_start', 'c.used_minor'],
      `usage_counters c where c.subject_id = any(array(select unnest($2::uuid[]) union all select id from applicable))
         and c.period in ('day', 'month') and c.period_start = any($4::date[])`,
    )} as usage,
    ${unapprovedColumn} as unapproved`,
  'record',
)

const readWorkspaces = recordsReader(
  (next): WorkspaceState => ({
    id: next(),
    ownerId: next(),
    frozen: isTrue(next()),
    closed: isTrue(next()),
    zone: { timeZone: next(), nextTimeZone: textOf(next()), nextFrom: instantOf(next()) },
    approverAccountIds: listOf(next()),
    signingAccountIds: listOf(next()),
  }),
)
const readOwners = recordsReader(
  (next): AccountRecord => ({
    id: next(),
    status: next() as AccountRecord['status'],
    email: quotedOf(next()),
    displayName: quotedOf(next()),
    topupsEnabled: isTrue(next()),
    paymentsEnabled: isTrue(next()),
    apiKeysEnabled: isTrue(next()),
    oauthEnabled: isTrue(next()),
    isAdmin: isTrue(next()),
    createdAt: readInstant(next),
    updatedAt: readInstant(next),
  }),
)
const readBeneficiaries = recordsReader((next): BeneficiaryState => {
  const beneficiary = {
    id: next(),
    workspaceId: next(),
    payeeId: next(),
    familyId: next(),
    displayName: JSON.parse(next()),
    rail: next() as RailName,
    destinationMask: JSON.parse(next()),
    accountReferenceRequired: isTrue(next()),
    accountReference: quotedOf<string>(next()),
    archived: isTrue(next()),
    payee: readPayeeFacts(next),
    frozen: isTrue(next()),
    payeeBeneficiaryIds: listOf(next()),
    paybillBeneficiaryIds: listOf(next()),
    accounts: quotedOf<AccountState[]>(next()) ?? [],
  }
  return { ...beneficiary, takesAnyReference: takesAnyReference({ ...beneficiary, paymentRail: beneficiary.rail }) }
})
const readGrants = fieldsReader(grantFields)
const readPolicies = fieldsReader(policyFields)
/** These differ each time: nothing is gained by remembering them. */
const readUsage = (text: string | null): Map<string, Minor> => {
  const usage = new Map<string, Minor>()
  for (const [subjectId = '', period = '', start = '', used = ''] of splitRecords(text))
    usage.set(usageKey(subjectId, period, start), BigInt(used))
  return usage
}

const byId = <Value extends { id: Uuid }>(rows: readonly Value[]): Map<Uuid, Value> =>
  new Map(rows.map((value) => [value.id, value]))

export type StateQuery = {
  workspaceIds: readonly Uuid[]
  grantIds: readonly Uuid[]
  beneficiaryIds: readonly Uuid[]
  /** Those that payments to them name. */
  accountReferences: readonly (string | null)[]
  periods: readonly Pick<Periods, 'day' | 'month'>[]
  /** When it is decided: an approver counts by how long it may decide. */
  at: Date
  /** For a policy that is only proposed and asks for signatures. */
  withSigners?: boolean
}

/** Reads what decisions for these workspaces, grants and beneficiaries need, in one round trip. */
export const readState = async (db: Db, query: StateQuery): Promise<LockedState> => {
  const periodStarts = new Set(query.periods.flatMap(({ day, month }) => [day, month]))
  const [row] = await db.query<
    Record<'workspaces' | 'owners' | 'beneficiaries' | 'grants' | 'policies' | 'usage' | 'unapproved', string | null>
  >(read, [
    plainList(query.workspaceIds),
    plainList(query.grantIds),
    plainList([...new Set(query.beneficiaryIds)]),
    plainList([...periodStarts]),
    plainList(decidingRoles),
    textList([...new Set(query.accountReferences.flatMap((reference) => (reference === null ? [] : referenceKey(reference))))]),
    query.withSigners ?? false,
    query.at,
  ])
  if (!row) throw new Error('a statement that always answers did not')
  return {
    owners: byId(readOwners(row.owners)),
    workspaces: byId(readWorkspaces(row.workspaces)),
    beneficiaries: byId(readBeneficiaries(row.beneficiaries)),
    grants: byId(readGrants(row.grants)),
    policies: Map.groupBy(readPolicies(row.policies), ({ workspaceId }) => workspaceId),
    usage: readUsage(row.usage),
    unapproved: readUnapproved(row.unapproved),
    periodStarts,
  }
}
