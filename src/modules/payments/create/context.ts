import { decidingRoles } from '../../../auth/permissions.ts'
import { type Db, statement } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { GrantRules, Limits, Periods, PolicyRules, Usage } from '../../../policy/types.ts'
import type { RailName } from '../../../rails/rail.ts'

/** Everything that a decision looks at, as it stands under the locks of the deciding transaction. */
export type PaymentContext = {
  workspace: { frozen: boolean; closed: boolean }
  owner: { status: string; paymentsEnabled: boolean }
  beneficiary: {
    id: Uuid
    displayName: string
    rail: RailName
    destinationMask: string
    accountReferenceRequired: boolean
    archived: boolean
    frozen: boolean
    /** Every beneficiary with the same destination, this one included. */
    payeeBeneficiaryIds: Uuid[]
  }
  /** Root first. */
  grants: (GrantRules & { frozen: boolean; revoked: boolean })[]
  policies: PolicyRules[]
  approverAccountIds: Uuid[]
}

type LimitsJson = { per_payment: string | null; daily: string | null; monthly: string | null; threshold: string | null }
type GrantJson = LimitsJson & {
  id: Uuid
  label: string
  payment_types: string[] | null
  beneficiary_ids: Uuid[] | null
  frozen: boolean
  revoked: boolean
}
type PolicyJson = LimitsJson & {
  id: Uuid
  name: string
  version: number
  payment_types: string[]
  beneficiary_ids: Uuid[]
  count: number
  duties: boolean
}
type UsageJson = { id: Uuid; period: 'day' | 'month'; used: string }
type Row = {
  workspace: { frozen: boolean; closed: boolean } | null
  owner: { status: string; payments_enabled: boolean } | null
  beneficiary: {
    id: Uuid
    display_name: string
    rail: RailName
    mask: string
    reference_required: boolean
    archived: boolean
    frozen: boolean
    payee_ids: Uuid[]
  } | null
  grants: GrantJson[] | null
  policies: PolicyJson[] | null
  usage: UsageJson[] | null
  approvers: Uuid[] | null
}

// Money travels as text inside JSON: a JSON number would be a float.
const limitsJson = `
  'per_payment', per_payment_limit_minor::text, 'daily', daily_limit_minor::text, 'monthly', monthly_limit_minor::text,
  'threshold', approval_threshold_minor::text`

/** FOR SHARE: what freezes, revokes or alters one of these rows waits for this decision, or is seen by it. */
const contextText = (lock: string) => `
  with w as materialized (select * from workspaces where id = $1 ${lock}),
  g as materialized (select * from grants where id = any($2::uuid[]) ${lock}),
  b as materialized (select * from beneficiaries where id = $3 and workspace_id = $1 ${lock}),
  y as materialized (select * from payees where id = (select payee_id from b) ${lock}),
  p as materialized (select * from spending_policies where workspace_id = $1 and archived_at is null ${lock})
  select
    (select json_build_object('frozen', frozen_at is not null or suspended_at is not null, 'closed', closed_at is not null) from w) as workspace,
    (select json_build_object('status', status, 'payments_enabled', payments_enabled) from accounts where id = (select owning_account_id from w)) as owner,
    (select json_build_object('id', b.id, 'display_name', b.display_name, 'rail', b.payment_rail, 'mask', b.destination_mask,
       'reference_required', b.account_reference_required, 'archived', b.archived_at is not null, 'frozen', y.frozen_at is not null,
       'payee_ids', (select json_agg(x.id) from beneficiaries x where x.payee_id = b.payee_id)) from b, y) as beneficiary,
    (select json_agg(json_build_object('id', id, 'label', label, ${limitsJson}, 'payment_types', payment_types, 'beneficiary_ids', beneficiary_ids,
       'frozen', frozen_at is not null, 'revoked', revoked_at is not null) order by cardinality(ancestor_ids)) from g) as grants,
    (select json_agg(json_build_object('id', id, 'name', name, 'version', version, ${limitsJson}, 'payment_types', payment_types,
       'beneficiary_ids', beneficiary_ids, 'count', required_approval_count, 'duties', separation_of_duties)) from p) as policies,
    (select json_agg(json_build_object('id', subject_id, 'period', period, 'used', used_minor::text)) from usage_counters
       where (subject_id in (select id from p) or subject_id in (select id from g))
         and ((period = 'day' and period_start = $4::date) or (period = 'month' and period_start = $5::date))) as usage,
    (select json_agg(m.account_id) from members m join accounts a on a.id = m.account_id
       where m.workspace_id = $1 and m.status = 'active' and m.role = any($6::text[]) and a.status = 'active') as approvers`

const lockedContext = statement('payments.context', contextText('for share'))
const readContext = statement('payments.context_read', contextText(''))

const amount = (text: string | null): Minor | null => (text === null ? null : BigInt(text))

const limitsOf = (json: LimitsJson): Limits => ({
  perPaymentLimitMinor: amount(json.per_payment),
  dailyLimitMinor: amount(json.daily),
  monthlyLimitMinor: amount(json.monthly),
  approvalThresholdMinor: amount(json.threshold),
})

const usageOf = (usage: readonly UsageJson[], id: Uuid): Usage => {
  const used = (period: UsageJson['period']) =>
    BigInt(usage.find((entry) => entry.id === id && entry.period === period)?.used ?? 0)
  return { dayMinor: used('day'), monthMinor: used('month') }
}

export type ContextQuery = { workspaceId: Uuid; lineage: readonly Uuid[]; beneficiaryId: Uuid; periods: Periods }

/** Loads it in one round trip; undefined when the beneficiary is none of the workspace. `locked` is for deciding, not for simulating. */
export const loadContext = async (db: Db, query: ContextQuery, locked: boolean): Promise<PaymentContext | undefined> => {
  const { workspaceId, lineage, beneficiaryId, periods } = query
  const values = [workspaceId, lineage, beneficiaryId, periods.day, periods.month, decidingRoles]
  const [row] = await db.query<Row>(locked ? lockedContext : readContext, values)
  if (!row?.workspace || !row.owner || !row.beneficiary) return undefined
  const usage = row.usage ?? []
  const { beneficiary } = row
  return {
    workspace: row.workspace,
    owner: { status: row.owner.status, paymentsEnabled: row.owner.payments_enabled },
    beneficiary: {
      id: beneficiary.id,
      displayName: beneficiary.display_name,
      rail: beneficiary.rail,
      destinationMask: beneficiary.mask,
      accountReferenceRequired: beneficiary.reference_required,
      archived: beneficiary.archived,
      frozen: beneficiary.frozen,
      payeeBeneficiaryIds: beneficiary.payee_ids,
    },
    grants: (row.grants ?? []).map((grant) => ({
      id: grant.id,
      name: grant.label,
      ...limitsOf(grant),
      paymentTypes: grant.payment_types,
      beneficiaryIds: grant.beneficiary_ids,
      usage: usageOf(usage, grant.id),
      frozen: grant.frozen,
      revoked: grant.revoked,
    })),
    policies: (row.policies ?? []).map((policy) => ({
      id: policy.id,
      name: policy.name,
      version: policy.version,
      ...limitsOf(policy),
      paymentTypes: policy.payment_types,
      beneficiaryIds: policy.beneficiary_ids,
      requiredApprovalCount: policy.count,
      separationOfDuties: policy.duties,
      usage: usageOf(usage, policy.id),
    })),
    approverAccountIds: row.approvers ?? [],
  }
}
