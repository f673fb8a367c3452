import { sqlCheck } from '../db/check.ts'

const counted = `
  select c->>'subject' as subject, (c->>'id')::uuid as id, c->>'period' as period, (c->>'start')::date as start, sum(p.amount_minor) as used, count(*) as payments
  from payments p cross join jsonb_array_elements(p.charges) as c
  where p.status not in ('rejected', 'failed', 'cancelled', 'expired') group by 1, 2, 3, 4`

export const counterChecks = [
  sqlCheck(
    'I9',
    'a usage counter is the sum and the number of the payments that it counts',
    `with counted as (${counted})
     select coalesce(k.subject || ' ' || k.subject_id || ' ' || k.period || ' ' || k.period_start,
                     c.subject || ' ' || c.id || ' ' || c.period || ' ' || c.start) as subject
     from usage_counters k full join counted c on c.id = k.subject_id and c.period = k.period and c.start = k.period_start
     where (coalesce(k.used_minor, 0), coalesce(k.payments, 0)) <> (coalesce(c.used, 0), coalesce(c.payments, 0)) or k.subject <> c.subject`,
  ),
  sqlCheck(
    'I9',
    'no mandate has given more than was signed for',
    `select m.id::text as subject from intent_mandates m join usage_counters k on k.subject_id = m.id and k.period = 'total'
     where k.used_minor > m.max_total_minor or k.payments > m.max_payments`,
  ),
]
