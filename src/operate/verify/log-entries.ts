import { sqlChecks } from '../../db/check.ts'
import { auditLogCheck, typeIdSql } from './audit-log.ts'
import { auditedTables } from './audited-tables.ts'

/** Time zone changes of workspaces in the log. `effective_from`: for a cancelled change, the time of the cancelling entry. */
const zoneChanges = `changes as (
  select subject_id as id, at, after->>'time_zone' as zone, (after->>'time_zone_from')::timestamptz as effective_from,
    before->>'time_zone' as previous_zone, before->>'next_time_zone' as previous_next_zone,
    lag((after->>'time_zone_from')::timestamptz) over (partition by subject_id order by transaction, id) as previous_change_from,
    row_number() over (partition by subject_id order by transaction desc, id desc) as age
  from audit_log where lower(action) = 'workspace.update' and after->>'time_zone_from' is not null)`

/** Whether a rail was last paused or resumed. `about`: condition on the entry. */
const newestPauseAction = (rail: string, about = 'true'): string => `(
  select a.action from audit_log a where lower(a.action) in ('admin.pause_rail', 'admin.resume_rail') and a.after->>'rail' = ${rail} and (${about})
  order by a.transaction desc, a.id desc limit 1)`

/**
 * Entries of release 0.4.0 and earlier name no cause, and may be about any. `nameless`: the action that counts without a cause,
 * which is the one that agrees with the rows.
 */
const isAbout = (cause: string, nameless: 'pause' | 'resume'): string =>
  `coalesce(a.after->>'cause' = ${cause}, lower(a.action) = 'admin.${nameless}_rail')`

/** Rows that the audit log identifies by columns other than their id. */
const logEntryQueries = sqlChecks({
  I21: {
    'approval decisions and their voids match the audit log in both directions': `
      select d.id::text as subject from approval_decisions d where d.decided_at >= $since and not exists (
        select from payments p join intent_mandates m on m.id = p.mandate_id where d.via = 'mandate' and p.approval_id = d.approval_id and m.signature = d.signature)
        and not exists (select from audit_log a where d.via <> 'mandate' and a.subject_id = d.approval_id and a.action = 'approval.' || d.decision and a.at = d.decided_at
          and (a.after->>'account', a.after->>'via') = (d.account_id::text, d.via))
      union all
      select a.id::text from audit_log a where lower(a.action) in ('approval.approve', 'approval.reject') and a.at >= $since and not exists (
        select from approval_decisions d where d.approval_id = a.subject_id and d.decided_at = a.at and d.account_id::text = a.after->>'account')
      union all
      select a.subject_id::text from audit_log a where lower(a.action) = 'approval.decision_voided' and a.at >= $since
        and not exists (select from approval_voids v join approval_decisions d on d.id = v.decision_id where d.approval_id = a.subject_id and v.voided_at = a.at)
      union all
      select v.decision_id::text from approval_voids v join approval_decisions d on d.id = v.decision_id
      where v.voided_at >= $since and not exists (
        select from audit_log a where a.subject_id = d.approval_id and a.at = v.voided_at and a.action in ('approval.decision_voided', 'approval.text_changed'))`,
    'the text of every approval states its payment, amount and expiry': `
      select a.id::text as subject from approvals a join payments p on p.id = a.payment_id
      where a.updated_at >= $since and (position('Approval: ' || ${typeIdSql('approval', 'a.id')} in a.approve_message) = 0
        or position('Expires: ' || to_char(a.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') in a.approve_message) = 0
        or (a.batch_id is null and (position('Payment: ' || ${typeIdSql('payment', 'p.id')} in a.approve_message) = 0
          or position('Amount in minor units: ' || p.amount_minor || ' ' || p.currency || E'\\n' in a.approve_message) = 0)))`,
    'every version of a policy matches the audit log': `
      select v.policy_id || ' ' || v.version as subject from spending_policy_versions v where not exists (
        select from audit_log a where a.subject_id = v.policy_id and a.subject_type = 'policy' and a.after->>'version' = v.version::text
          and (a.after::jsonb - '{pending_change,status,updated_at,changed_by,warnings,usage}'::text[])
            = (v.document - '{pending_change,status,updated_at,changed_by,warnings,usage}'::text[]))`,
    'the start of every right to decide is in the audit log, and the grant of every agent ends within a day after its tokens': `
      select m.id::text as subject from members m where m.deciding_since <> m.created_at and not exists (
        select from audit_log a where a.subject_id = m.id and a.at = m.deciding_since)
      union all
      select g.id::text from grants g join oauth_grants o on o.grant_id = g.id
      where g.expires_at > o.expires_at + interval '1 day' or o.expires_at > o.ends_at or g.expires_at is null`,
    'the lookup key of every identity is derived from its subject': `
      select id::text as subject from identities where subject_key <> case
        when provider <> 'wallet' then subject when chain_id is null then lower(subject) else 'eip155:' || chain_id || ':' || lower(subject) end`,
    'the registered name of every beneficiary comes from a name check': `
      select b.id::text as subject from beneficiaries b cross join lateral (
        select name, checked_at from beneficiary_verifications v where v.beneficiary_id = b.id order by v.id desc limit 1) as v
      where b.name_checked_at = v.checked_at and v.name is not null and b.reported_name is null
      union all
      select b.id::text from beneficiaries b where b.reported_name is null and b.verification in ('match', 'close_match', 'no_match')
      union all
      select b.id::text from beneficiaries b where b.reported_name is not null
        and exists (select from beneficiary_verifications v where v.beneficiary_id = b.id)
        and not exists (select from beneficiary_verifications v where v.beneficiary_id = b.id and v.name = b.reported_name)`,
    'paused rails, passed duplicate checks and retired receipt keys match the audit log': `
      select p.rail || ' ' || p.cause as subject from rail_pauses p
      where ${newestPauseAction('p.rail', isAbout('p.cause', 'pause'))} is distinct from 'admin.pause_rail'
        or not exists (select from audit_log a where lower(a.action) = 'admin.pause_rail' and (a.after->>'rail', a.at) = (p.rail, p.paused_at)
          and ${isAbout('p.cause', 'pause')})
      union all
      select r.rail || ' ' || r.cause from (
        select distinct a.after->>'rail' as rail, a.after->>'cause' as cause from audit_log a where lower(a.action) = 'admin.pause_rail') as r
      where ${newestPauseAction('r.rail', isAbout('r.cause', 'resume'))} = 'admin.pause_rail' and not exists (select from rail_pauses p where (p.rail, p.cause) = (r.rail, r.cause))
      union all
      select r.rail from (select distinct a.after->>'rail' as rail from audit_log a where lower(a.action) = 'admin.pause_rail') as r
      where ${newestPauseAction('r.rail')} = 'admin.pause_rail' and not exists (select from rail_pauses p where p.rail = r.rail)
      union all
      select rail || ' ' || account from duplicate_checks c where not exists (
        select from audit_log a where lower(a.action) = 'admin.pass_duplicate_check' and (a.after->>'rail', a.after->>'account') = (c.rail, c.account))
      union all
      select k.id from signing_keys k where (k.retired_at is not null) <> exists (
        select from audit_log a where lower(a.action) = 'admin.retire_receipt_key' and a.after->>'key' = k.id)`,
    'every approval names the grant that requested it, and every batch names its approval': `
      select a.id::text as subject from approvals a join payments p on p.id = a.payment_id
      where a.updated_at >= $since and (case when p.grant_id is not null then p.grant_id is distinct from a.initiating_grant_id else exists (
        select from audit_log l join sessions s on s.id = l.credential_id join identities i on i.id = s.identity_id
        where l.subject_id = coalesce(a.batch_id, p.id) and l.action in ('payment.create', 'payment_batch.create') and l.credential_kind = 'session'
          and i.linked_by_grant_id is distinct from a.initiating_grant_id
          and not (a.initiating_grant_id is null and exists (select from grants g where g.id = i.linked_by_grant_id and g.revoked_at <= l.at))) end)
      union all
      select b.id::text from payment_batches b where b.updated_at >= $since and b.approval_id is distinct from (
        select a.id from payments p join approvals a on a.payment_id = p.id where p.batch_id = b.id and p.batch_index = 0)`,
    'the current and the former time zones of every workspace match the audit log': `
      with ${zoneChanges}
      select w.id::text as subject from workspaces w
        left join changes c on c.id = w.id and c.age = 1
        left join audit_log made on made.subject_id = w.id and made.action = 'workspace.create'
      where (w.time_zone, w.next_time_zone, w.next_time_zone_from) is distinct from (
        case when c.id is null then coalesce(made.after->>'time_zone', 'Africa/Nairobi') when c.previous_change_from <= c.at then coalesce(c.previous_next_zone, c.previous_zone)
          else c.previous_zone end,
        case when c.effective_from > c.at then c.zone end, case when c.effective_from > c.at then c.effective_from end)
      union all
      select z.workspace_id::text from workspace_time_zones z join workspaces w on w.id = z.workspace_id
      where z.from_at <> w.created_at and not exists (
        select from changes c where c.id = z.workspace_id and (c.effective_from, c.zone) = (z.from_at, z.time_zone))`,
    'every settlement by a callback has that callback': `
      select l.subject_id::text as subject from audit_log l join rail_attempts a on a.subject_id = l.subject_id
      where l.at >= $since and l.credential_kind = 'rail:delivery' and l.action in ('payment.succeeded', 'payment.failed', 'payment.returned', 'topup.succeeded', 'topup.failed')
        and exists (select from callback_deliveries d where d.attempt_id = a.id)
        and not exists (select from rail_attempts o join callback_deliveries d on d.attempt_id = o.id
          where o.subject_id = l.subject_id and d.processed_at = l.at and d.verdict = 'applied')
        and not exists (select from deposits d where d.topup_id = l.subject_id and d.settled_at = l.at)`,
  },
})

export const logEntryChecks = [
  ...Object.entries(auditedTables).map(([table, audited]) => auditLogCheck(table, audited)),
  ...logEntryQueries,
]
