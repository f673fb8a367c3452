import { type Db, statement } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { LimitsInUse } from '../../policy/headroom.ts'
import type { Periods } from '../../policy/types.ts'

type Row = {
  per_payment: Minor | null
  daily: Minor | null
  monthly: Minor | null
  threshold: Minor | null
  used_today: Minor
  used_this_month: Minor
}

/** A policy that asks for approvals without a threshold asks for them from 0 on. */
const limits = statement(
  'credentials.limits',
  `with limiting as (
     select id, per_payment_limit_minor, daily_limit_minor, monthly_limit_minor, approval_threshold_minor
     from grants where id = any($2::uuid[])
     union all
     select id, per_payment_limit_minor, daily_limit_minor, monthly_limit_minor,
       case when required_approval_count > 0 then coalesce(approval_threshold_minor, 0) else approval_threshold_minor end
     from spending_policies
     where workspace_id = $1 and archived_at is null and cardinality(payment_types) = 0 and cardinality(beneficiary_ids) = 0)
   select l.per_payment_limit_minor as per_payment, l.daily_limit_minor as daily, l.monthly_limit_minor as monthly,
     l.approval_threshold_minor as threshold,
     coalesce(d.used_minor, 0::bigint) as used_today, coalesce(m.used_minor, 0::bigint) as used_this_month
   from limiting l
   left join usage_counters d on d.subject_id = l.id and d.period = 'day' and d.period_start = $3::date
   left join usage_counters m on m.subject_id = l.id and m.period = 'month' and m.period_start = $4::date`,
)

/** Everything that limits every payment made through these grants, and how much of each limit is used in the current day and month. */
export const loadLimits = async (
  db: Db,
  workspaceId: Uuid,
  lineage: readonly Uuid[],
  periods: Periods,
): Promise<LimitsInUse[]> => {
  const rows = await db.query<Row>(limits, [workspaceId, lineage, periods.day, periods.month])
  return rows.map((row) => ({
    perPaymentLimitMinor: row.per_payment,
    dailyLimitMinor: row.daily,
    monthlyLimitMinor: row.monthly,
    approvalThresholdMinor: row.threshold,
    usage: { dayMinor: row.used_today, monthMinor: row.used_this_month },
  }))
}
