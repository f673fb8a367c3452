import { sqlChecks } from '../../db/check.ts'
import { countedPaymentsSql } from '../../db/transitions.ts'
import { everyPayee, isInTotal, noGrant, policyApplies, totalApplies, totalStart } from '../../policy/scope-sql.ts'

const counts = `p.status in ${countedPaymentsSql}`

/** The time zone of workspace `w` when policy `s` last changed. */
const zoneAtUpdate = `case when w.next_time_zone_from <= s.updated_at then w.next_time_zone else coalesce((
  select z.time_zone from workspace_time_zones z where z.workspace_id = w.id and z.from_at <= s.updated_at order by z.from_at desc limit 1), w.time_zone) end`

/** Totals of the payments that count against grants and mandates, and the totals that count against policies. */
const countedBySubject = `
  select g.id, periods.period, periods.start, sum(p.amount_minor) as used, count(*) as payments
  from payments p join grants own on own.id = p.grant_id join grants g on g.id = any(own.ancestor_ids || own.id)
  cross join lateral (values ('day', p.counted_day), ('month', date_trunc('month', p.counted_day)::date), ('total', date '${totalStart}')) as periods(period, start)
  where ${counts} and (periods.period <> 'total' or g.total_seeded_at is not null) group by 1, 2, 3
  union all
  select s.id, 'total', date '${totalStart}', sum(p.amount_minor), count(*)
  from spending_policies s join payments p on p.workspace_id = s.workspace_id and ${policyApplies('s', 'p')} and ${isInTotal('s', 'p')}
  where s.archived_at is null and ${counts} group by 1
  union all
  select p.mandate_id, 'total', date '0001-01-01', sum(p.amount_minor), count(*) from payments p where p.mandate_id is not null and ${counts} group by 1
  union all
  select s.id, periods.period, periods.start, sum(t.used_minor), sum(t.payments)
  from spending_policies s join spending_totals t on t.workspace_id = s.workspace_id and ${totalApplies('s', 't')}
  cross join lateral (values ('day', t.day), ('month', date_trunc('month', t.day)::date)) as periods(period, start)
  where s.archived_at is null and t.payments > 0 group by 1, 2, 3`

export const counterChecks = sqlChecks({
  I9: {
    'every usage counter equals the sum and the number of the payments that it counts': `
      with counted as (${countedBySubject})
      select k.subject || ' ' || k.subject_id || ' ' || k.period || ' ' || k.period_start as subject
      from usage_counters k left join counted c on c.id = k.subject_id and c.period = k.period and c.start = k.period_start
      where (k.used_minor, k.payments) <> (coalesce(c.used, 0), coalesce(c.payments, 0))
        and not exists (select from spending_policies s where s.id = k.subject_id and s.archived_at is not null)
      union all
      select c.id || ' ' || c.period || ' ' || c.start from counted c
      where c.used > 0 and not exists (select from usage_counters k where k.subject_id = c.id and k.period = c.period and k.period_start = c.start)
        -- A policy counts from the month in which it was last altered.
        and not exists (select from spending_policies s join workspaces w on w.id = s.workspace_id
                        where s.id = c.id and c.start < date_trunc('month', s.updated_at at time zone ${zoneAtUpdate})::date)`,
    'the daily totals of every workspace equal the sum and the number of the payments counted that day': `
      with counted as (
        select workspace_id, counted_day as day, coalesce(payee_id, '${everyPayee}') as payee_id,
          coalesce(grant_id, '${noGrant}') as grant_id, rail, payment_type,
          sum(amount_minor) as used, count(*) as payments
        from payments p where ${counts}
        group by workspace_id, counted_day, 4, rail, payment_type, grouping sets ((payee_id), ()))
      select coalesce(t.workspace_id, c.workspace_id) || ' ' || coalesce(t.day, c.day) as subject
      from spending_totals t full join counted c using (workspace_id, day, payee_id, grant_id, rail, payment_type)
      where (coalesce(t.used_minor, 0), coalesce(t.payments, 0)) <> (coalesce(c.used, 0), coalesce(c.payments, 0))`,
    'no mandate was used beyond its signed limits': `
      select m.id::text as subject from intent_mandates m join usage_counters k on k.subject_id = m.id and k.period = 'total'
      where k.used_minor > m.max_total_minor or k.payments > m.max_payments`,
  },
})
