import type { Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import { periodsAt } from '../../policy/calendar.ts'
import type { PolicyTerms } from './rules.ts'

/** Payments that count against limits: the others gave their charges back. */
export const countedStatuses = `('pending_approval', 'processing', 'succeeded', 'unknown', 'returned')`

const forget = `
  update payments set charges = (select coalesce(jsonb_agg(c), '[]') from jsonb_array_elements(charges) c where c->>'id' <> $2::text)
  where workspace_id = $1 and created_at >= ($3::date::timestamp at time zone $4) and charges @> jsonb_build_array(jsonb_build_object('id', $2::text))`

const forgetCounters = 'delete from usage_counters where subject_id = $1 and period_start >= $2::date'

const charge = `
  update payments p set charges = p.charges || jsonb_build_array(
    jsonb_build_object('subject', 'policy', 'id', $2::text, 'period', 'day', 'start', to_char(p.created_at at time zone $4, 'YYYY-MM-DD')),
    jsonb_build_object('subject', 'policy', 'id', $2::text, 'period', 'month', 'start', to_char($3::date, 'YYYY-MM-DD')))
  where p.workspace_id = $1 and p.created_at >= ($3::date::timestamp at time zone $4)
    and (cardinality($5::text[]) = 0 or p.payment_type = any($5) or p.rail = any($5))
    and (cardinality($6::uuid[]) = 0 or exists (
      select from beneficiaries paid join beneficiaries named on named.payee_id = paid.payee_id
      where paid.id = p.beneficiary_id and named.id = any($6)))`

const count = `
  insert into usage_counters (subject, subject_id, period, period_start, used_minor, payments)
  select 'policy', $2::uuid, c->>'period', (c->>'start')::date, sum(p.amount_minor), count(*)
  from payments p cross join jsonb_array_elements(p.charges) c
  where p.workspace_id = $1 and p.created_at >= ($3::date::timestamp at time zone $4) and c->>'id' = $2::text and p.status in ${countedStatuses}
  group by 3, 4`

/**
 * Charges the running month's payments to a new or altered policy, as if it had been there from the month's beginning: a limit set
 * at noon counts the morning. The caller holds the owning ledger account's lock, which every payment takes first.
 */
export const seedPolicy = async (
  tx: Tx,
  workspaceId: Uuid,
  policyId: Uuid,
  terms: PolicyTerms,
  zone: { timeZone: string; at: Date },
): Promise<void> => {
  const { month } = periodsAt(zone.at, zone.timeZone)
  await tx.query(forget, [workspaceId, policyId, month, zone.timeZone])
  await tx.query(forgetCounters, [policyId, month])
  await tx.query(charge, [workspaceId, policyId, month, zone.timeZone, terms.paymentTypes, terms.beneficiaryIds])
  await tx.query(count, [workspaceId, policyId, month, zone.timeZone])
}
