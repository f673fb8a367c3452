import { decidingRoles } from '../../../auth/permissions.ts'
import { type Db, statement } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import { mayApplyTo } from '../../../policy/scope-sql.ts'
import type { GrantRules, Limits, Periods, PolicyRules } from '../../../policy/types.ts'
import type { AccountRecord } from '../../identity/accounts/queries.ts'

export type WorkspaceState = {
  id: Uuid
  ownerId: Uuid
  frozen: boolean
  closed: boolean
  zone: { timeZone: string; nextTimeZone: string | null; nextFrom: Date | null }
  approverAccountIds: Uuid[]
}
export type BeneficiaryState = {
  id: Uuid
  workspaceId: Uuid
  payeeId: Uuid
  displayName: string
  rail: RailName
  destinationMask: string
  accountReferenceRequired: boolean
  archived: boolean
  frozen: boolean
  /** Every beneficiary with the same destination, this one included. */
  payeeBeneficiaryIds: Uuid[]
}
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
  /** The first local date of each day and month whose usage was read. */
  periodStarts: ReadonlySet<string>
}

export const usageKey = (subjectId: Uuid, period: string, start: string | null): string => `${subjectId} ${period} ${start}`

type LimitsJson = { per_payment: string | null; daily: string | null; monthly: string | null; threshold: string | null }
type Row = {
  workspaces:
    | {
        id: Uuid
        owner: Uuid
        frozen: boolean
        closed: boolean
        zone: string
        next_zone: string | null
        next_from: string | null
        approvers: Uuid[] | null
      }[]
    | null
  owners:
    | {
        id: Uuid
        status: AccountRecord['status']
        email: string | null
        name: string | null
        topups: boolean
        payments: boolean
        api_keys: boolean
        oauth: boolean
        admin: boolean
        created_at: string
        updated_at: string
      }[]
    | null
  beneficiaries:
    | {
        id: Uuid
        workspace: Uuid
        payee: Uuid
        name: string
        rail: RailName
        mask: string
        reference_required: boolean
        archived: boolean
        frozen: boolean
        payee_ids: Uuid[]
      }[]
    | null
  grants:
    | (LimitsJson & {
        id: Uuid
        label: string
        types: string[] | null
        beneficiaries: Uuid[] | null
        frozen: boolean
        revoked: boolean
        depth: number
      })[]
    | null
  policies:
    | (LimitsJson & {
        id: Uuid
        workspace: Uuid
        name: string
        version: number
        types: string[]
        beneficiaries: Uuid[]
        count: number
        duties: boolean
        window: number | null
        on_duplicate: PolicyState['onDuplicate']
      })[]
    | null
  usage: { id: Uuid; period: string; start: string; used: string }[] | null
}

// Amounts are text inside JSON: a JSON number would be a float.
const limitsJson = `
  'per_payment', per_payment_limit_minor::text, 'daily', daily_limit_minor::text, 'monthly', monthly_limit_minor::text,
  'threshold', approval_threshold_minor::text`

/**
 * One row for any number of requests, and no row locks: a transaction that freezes, revokes, archives or changes one of these holds the
 * account's lock, which the deciding transaction holds too.
 */
const read = statement(
  'payments.state',
  `with same_payee as materialized (
     select array(select x.id from beneficiaries b join beneficiaries x on x.payee_id = b.payee_id where b.id = any($3::uuid[])) as ids),
   applicable as materialized (
     select p.* from spending_policies p, same_payee where p.workspace_id = any($1::uuid[]) and p.archived_at is null and ${mayApplyTo('p', 'same_payee.ids')})
   select
    (select json_agg(json_build_object('id', w.id, 'owner', w.owning_account_id, 'frozen', w.frozen_at is not null or w.suspended_at is not null,
       'closed', w.closed_at is not null, 'zone', w.time_zone, 'next_zone', w.next_time_zone, 'next_from', w.next_time_zone_from,
       'approvers', (select json_agg(m.account_id) from members m join accounts a on a.id = m.account_id
          where m.workspace_id = w.id and m.status = 'active' and m.role = any($5::text[]) and a.status = 'active')))
     from workspaces w where w.id = any($1::uuid[])) as workspaces,
    (select json_agg(json_build_object('id', a.id, 'status', a.status, 'email', a.email, 'name', a.display_name, 'topups', a.topups_enabled,
       'payments', a.payments_enabled, 'api_keys', a.api_keys_enabled, 'oauth', a.oauth_enabled, 'admin', a.is_admin, 'created_at', a.created_at,
       'updated_at', a.updated_at))
     from accounts a
     where a.id = any(array(select owning_account_id from workspaces where id = any($1::uuid[])))) as owners,
    (select json_agg(json_build_object('id', b.id, 'workspace', b.workspace_id, 'payee', b.payee_id, 'name', b.display_name, 'rail', b.payment_rail,
       'mask', b.destination_mask, 'reference_required', b.account_reference_required, 'archived', b.archived_at is not null,
       'frozen', y.frozen_at is not null, 'payee_ids', (select json_agg(x.id) from beneficiaries x where x.payee_id = b.payee_id)))
     from beneficiaries b join payees y on y.id = b.payee_id where b.id = any($3::uuid[])) as beneficiaries,
    (select json_agg(json_build_object('id', id, 'label', label, ${limitsJson}, 'types', payment_types, 'beneficiaries', beneficiary_ids,
       'frozen', frozen_at is not null, 'revoked', revoked_at is not null, 'depth', cardinality(ancestor_ids)))
     from grants where id = any($2::uuid[])) as grants,
    (select json_agg(json_build_object('id', id, 'workspace', workspace_id, 'name', name, 'version', version, ${limitsJson}, 'types', payment_types,
       'beneficiaries', beneficiary_ids, 'count', required_approval_count, 'duties', separation_of_duties, 'window', duplicate_window_seconds,
       'on_duplicate', on_duplicate))
     from applicable) as policies,
    (select json_agg(json_build_object('id', c.subject_id, 'period', c.period, 'start', c.period_start, 'used', c.used_minor::text))
     from usage_counters c
     where c.subject_id = any(array(select unnest($2::uuid[]) union all select id from applicable))
       and c.period in ('day', 'month') and c.period_start = any($4::date[])) as usage`,
)

const amount = (text: string | null): Minor | null => (text === null ? null : BigInt(text))

const limitsOf = (json: LimitsJson): Limits => ({
  perPaymentLimitMinor: amount(json.per_payment),
  dailyLimitMinor: amount(json.daily),
  monthlyLimitMinor: amount(json.monthly),
  approvalThresholdMinor: amount(json.threshold),
})

const byId = <Json, Value extends { id: Uuid }>(rows: readonly Json[] | null, make: (row: Json) => Value): Map<Uuid, Value> =>
  new Map((rows ?? []).map(make).map((value) => [value.id, value]))

type OwnerRow = NonNullable<Row['owners']>[number]

const ownerOf = (row: OwnerRow): AccountRecord => ({
  id: row.id,
  status: row.status,
  email: row.email,
  displayName: row.name,
  topupsEnabled: row.topups,
  paymentsEnabled: row.payments,
  apiKeysEnabled: row.api_keys,
  oauthEnabled: row.oauth,
  isAdmin: row.admin,
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
})

const policiesOf = (rows: Row['policies']): Map<Uuid, PolicyState[]> => {
  const byKey = new Map<Uuid, PolicyState[]>()
  for (const row of rows ?? []) {
    const policy = {
      id: row.id,
      workspaceId: row.workspace,
      name: row.name,
      version: row.version,
      ...limitsOf(row),
      paymentTypes: row.types,
      beneficiaryIds: row.beneficiaries,
      requiredApprovalCount: row.count,
      separationOfDuties: row.duties,
      duplicateWindowSeconds: row.window,
      onDuplicate: row.on_duplicate,
    }
    const of = byKey.get(row.workspace)
    if (of) of.push(policy)
    else byKey.set(row.workspace, [policy])
  }
  return byKey
}

export type StateQuery = {
  workspaceIds: readonly Uuid[]
  grantIds: readonly Uuid[]
  beneficiaryIds: readonly Uuid[]
  periods: readonly Pick<Periods, 'day' | 'month'>[]
}

/** Reads what decisions for these workspaces, grants and beneficiaries need, in one round trip: under the locks, or for a simulation. */
export const readState = async (db: Db, query: StateQuery): Promise<LockedState> => {
  const periodStarts = new Set(query.periods.flatMap(({ day, month }) => [day, month]))
  const [row] = await db.query<Row>(read, [
    plainList(query.workspaceIds),
    plainList(query.grantIds),
    plainList(query.beneficiaryIds),
    plainList([...periodStarts]),
    plainList(decidingRoles),
  ])
  if (!row) throw new Error('a statement that always answers did not')
  return {
    owners: byId(row.owners, ownerOf),
    workspaces: byId(row.workspaces, (workspace) => ({
      id: workspace.id,
      ownerId: workspace.owner,
      frozen: workspace.frozen,
      closed: workspace.closed,
      zone: {
        timeZone: workspace.zone,
        nextTimeZone: workspace.next_zone,
        nextFrom: workspace.next_from === null ? null : new Date(workspace.next_from),
      },
      approverAccountIds: workspace.approvers ?? [],
    })),
    beneficiaries: byId(row.beneficiaries, (beneficiary) => ({
      id: beneficiary.id,
      workspaceId: beneficiary.workspace,
      payeeId: beneficiary.payee,
      displayName: beneficiary.name,
      rail: beneficiary.rail,
      destinationMask: beneficiary.mask,
      accountReferenceRequired: beneficiary.reference_required,
      archived: beneficiary.archived,
      frozen: beneficiary.frozen,
      payeeBeneficiaryIds: beneficiary.payee_ids,
    })),
    grants: byId(row.grants, (grant) => ({
      id: grant.id,
      name: grant.label,
      ...limitsOf(grant),
      paymentTypes: grant.types,
      beneficiaryIds: grant.beneficiaries,
      frozen: grant.frozen,
      revoked: grant.revoked,
      depth: grant.depth,
    })),
    policies: policiesOf(row.policies),
    usage: new Map((row.usage ?? []).map(({ id, period, start, used }) => [usageKey(id, period, start), BigInt(used)])),
    periodStarts,
  }
}
