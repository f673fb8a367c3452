import { permissions } from '../../../auth/permissions.ts'
import type { Db } from '../../../db/client.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { formatMinor, type Minor, minor } from '../../../lib/money.ts'
import type { Controls } from './control-rules.ts'
import type { GrantRecord } from './queries.ts'
import type { Grant, SpendingControls } from './schema.ts'
import { type GrantUsage, loadGrantUsage } from './usage.ts'

const limit = (name: keyof SpendingControls, amount: Minor | null) => (amount === null ? {} : { [name]: formatMinor(amount) })

export const presentControls = (controls: Controls): SpendingControls => ({
  ...limit('per_payment_limit_minor', controls.perPaymentLimitMinor),
  ...limit('daily_limit_minor', controls.dailyLimitMinor),
  ...limit('monthly_limit_minor', controls.monthlyLimitMinor),
  ...limit('approval_threshold_minor', controls.approvalThresholdMinor),
  ...(controls.paymentTypes && { payment_types: controls.paymentTypes }),
  ...(controls.beneficiaryIds && { beneficiary_ids: controls.beneficiaryIds.map((id) => formatId('beneficiary', id)) }),
  ...(controls.newPayees && { new_payees: controls.newPayees }),
  ...(controls.onDuplicate && { on_duplicate: controls.onDuplicate }),
})

const nothingUsed: GrantUsage = {
  usage: { dayMinor: 0n, monthMinor: 0n },
  headroom: { perPaymentMinor: null, todayMinor: null, monthMinor: null },
}

/** What of a grant changes with payments: used today and this month, and what is left for one payment, today and this month. */
type Amounts = readonly [day: Minor, month: Minor, perPaymentLeft: Minor | null, todayLeft: Minor | null, monthLeft: Minor | null]

const view = (grant: GrantRecord, [dayMinor, monthMinor, perPaymentHeadroom, todayHeadroom, monthHeadroom]: Amounts): Grant => ({
  id: formatId('grant', grant.id),
  workspace_id: formatId('workspace', grant.workspaceId),
  kind: grant.kind,
  label: grant.label,
  permissions: permissions.filter((permission) => grant.permissions.includes(permission)),
  parent_grant_id: grant.parentGrantId && formatId('grant', grant.parentGrantId),
  spending_controls: presentControls(grant),
  usage: { today_minor: formatMinor(dayMinor), month_minor: formatMinor(monthMinor) },
  headroom: {
    per_payment_minor: minor(perPaymentHeadroom),
    today_minor: minor(todayHeadroom),
    month_minor: minor(monthHeadroom),
  },
  frozen: grant.frozenAt !== null,
  created_at: isoTime(grant.createdAt),
  last_used_at: isoTimeOrNull(grant.lastUsedAt),
  expires_at: isoTimeOrNull(grant.expiresAt),
  revoked_at: isoTimeOrNull(grant.revokedAt),
})

export const presentGrant = (grant: GrantRecord, { usage, headroom }: GrantUsage = nothingUsed): Grant =>
  view(grant, [usage.dayMinor, usage.monthMinor, headroom.perPaymentMinor, headroom.todayMinor, headroom.monthMinor])

/** The grants as REST returns them now, in the order given. */
export const viewGrants = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Grant[]> => {
  const usages = await loadGrantUsage(db, at, records)
  return records.map((grant) => presentGrant(grant, usages.get(grant.id)))
}

export const viewGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> =>
  presentGrant(grant, (await loadGrantUsage(db, at, [grant])).get(grant.id))
