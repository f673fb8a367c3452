import { currentDecisions, isSigned, lostBy, mayStillRequest, walletIsLinked } from '../../auth/authority-sql.ts'
import { sqlChecks } from '../../db/check.ts'

/** The approvals on `a` that counted when attempt `t` of payment `p` was recorded. */
const approversWhenSent = `(
  select count(*) from (
    select distinct on (d.account_id) d.id, d.decision, d.via from approval_decisions d
    where d.approval_id = p.approval_id and d.decided_at <= t.created_at order by d.account_id, d.decided_at desc, d.id desc) as latest
  where latest.decision = 'approve' and (a.approval_proof = 'any' or ${isSigned('latest')})
    and not exists (select from approval_voids v where v.decision_id = latest.id and v.voided_at < t.created_at))`

/** What a payment rests on, as it was when its sending was recorded, and as it is for what is not yet sent. */
export const authorityChecks = sqlChecks({
  I17: {
    'no payment was sent on fewer approvals than it needed, without those that had stopped counting': `
      select t.subject_id::text as subject from rail_attempts t join payments p on p.id = t.subject_id join approvals a on a.id = p.approval_id
      where t.created_at >= $since and t.state <> 'not_sent' and ${approversWhenSent} < a.required_approvals`,
    'no payment was sent by a mandate, or by a grant, that had ended': `
      select t.subject_id::text as subject from rail_attempts t join payments p on p.id = t.subject_id
      left join intent_mandates m on m.id = p.mandate_id left join grants g on g.id = p.grant_id
      where t.created_at >= $since and t.state <> 'not_sent' and (m.revoked_at < t.created_at or g.revoked_at < t.created_at)`,
    'an approval that lost what it rested on is voided while its payment is not yet sent': `
      select d.id::text as subject from payments p cross join lateral ${currentDecisions('p.approval_id')} as d
      where p.status = 'pending_approval' and d.decision = 'approve' and ${lostBy('d', 'p')} is not null`,
    'what waits for an approval was asked for by someone who may still ask for it, or is cancelled within an hour': `
      select p.id::text as subject from approvals a join payments p on p.id = a.payment_id
      where a.status = 'pending' and a.updated_at < $now - interval '1 hour' and not ${mayStillRequest('p')}`,
    'a mandate is active only while its account has the wallet that signed it': `
      select id::text as subject from intent_mandates where status = 'active' and not ${walletIsLinked('account_id', 'signer')}`,
  },
  I8: {
    'an outcome that the organisation pays for was agreed to as an adjustment of that sum': `
      select p.id::text as subject from payments p
      cross join lateral (values
        ('payment_failed', p.failure_code = 'resolved_by_operator', p.amount_minor),
        ('late_success_written_off', p.late_success_resolution = 'written_off', p.late_success_amount_minor)) as cost(kind, decided, amount_minor)
      where p.updated_at >= $since and cost.decided and not exists (
        select from adjustments a where a.payment_id = p.id and a.kind = cost.kind and a.status = 'posted' and a.amount_minor = cost.amount_minor)`,
    'an outcome waits for a second administrator only while its payment may still have it': `
      select a.id::text as subject from adjustments a join payments p on p.id = a.payment_id
      where a.status = 'pending'
        and case a.kind when 'payment_failed' then p.status <> 'unknown' else p.late_success_resolution is not null end`,
  },
})
