import { eq } from 'drizzle-orm'
import { statement, type Tx } from '../../db/client.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { payeesOfTotals, totalApplies } from '../../policy/scope-sql.ts'
import type { PolicyRecord } from './queries.ts'

const forget = prepareWrite('policies.forget_counters', { id: 'uuid' }, (orm, at) =>
  orm.delete(usageCounters).where(eq(usageCounters.subjectId, at.id)),
)

const seed = statement(
  'policies.seed_counters',
  `with counted as (
     select t.day, sum(t.used_minor) as used, sum(t.payments) as payments
     from spending_totals t cross join (select $4::text[] as payment_types, $5::uuid[] as beneficiary_ids, $6::uuid as binds_grant_id) as s
     where t.workspace_id = $3 and t.payee_id = any(${payeesOfTotals('$5::uuid[]')})
       and t.day >= $2::date and t.day < ($2::date + interval '1 month') and ${totalApplies('s', 't')}
     group by t.day)
   insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments)
   select 'policy', $1::uuid, w.owning_account_id, c.period, c.day, c.used, c.payments
   from (select 'day' as period, day, used, payments from counted
     union all
     select 'month', $2::date, sum(used), sum(payments) from counted having count(*) > 0) as c
   cross join (select owning_account_id from workspaces where id = $3) as w`,
)

/**
 * Counts the current month against a new or changed policy, as if it had existed since the month began: a limit set at noon counts the
 * morning. Earlier months are deleted: a payment of theirs that ends unpaid gives nothing back to this policy. The caller holds the owning
 * ledger account's lock, which every payment takes first.
 */
export const seedPolicy = (tx: Tx, policy: PolicyRecord, zone: { timeZone: string; at: Date }): void => {
  const { month } = periodsAt(zone.at, zone.timeZone)
  const values = [policy.id, month, policy.workspaceId, policy.paymentTypes, policy.beneficiaryIds, policy.bindsGrantId]
  tx.defer(tx.run(forget, { id: policy.id }))
  tx.defer(tx.query(seed, values))
}
