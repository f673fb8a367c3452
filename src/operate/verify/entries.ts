import { sqlChecks } from '../../db/check.ts'
import { balanceAccountsSql } from '../../db/tables/workspaces.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import { auditLogCheck, typeIdSql } from './audit-log.ts'
import { auditedTables } from './audited-tables.ts'

const published = [
  { table: 'api_keys', kind: 'api_key', type: 'api_key.created' },
  { table: 'grants', kind: 'grant', type: 'grant.created' },
  { table: 'sessions', kind: 'session', type: 'session.created' },
  { table: 'identities', kind: 'identity', type: 'identity.linked' },
  { table: 'spending_policies', kind: 'policy', type: 'policy.created' },
  { table: 'beneficiaries', kind: 'beneficiary', type: 'beneficiary.created' },
  { table: 'intent_mandates', kind: 'mandate', type: 'mandate.created' },
  { table: 'invitations', kind: 'invitation', type: 'member.invited' },
] as const

/** With a margin of one day, because older events may already be deleted. */
const stored = `greatest($since, $retained + interval '1 day')`

// Reads the events once and encodes each row's id once. Separate searches would read all events of a type for every row: with
// 600,000 events, each row took a second.
const inEvents = published.map(({ table, kind, type }) => [
  `every row of ${table} has a ${type} event`,
  `with published as materialized (
     select data->>'id' as id from events where type = '${type}' and created_at >= ${stored} - interval '1 day' and transaction > $sealed_through),
   named as materialized (select t.id, ${typeIdSql(kind, 't.id')} as name from ${table} t where t.created_at > ${stored})
   select id::text as subject from named where not exists (select from published where published.id = named.name)`,
])

const traces = sqlChecks({
  I8: {
    ...Object.fromEntries(inEvents),
    'every row of payments has a payment.created event': `
      with published as materialized (
        select payment_id from events where type = 'payment.created' and created_at >= ${stored} - interval '1 day' and transaction > $sealed_through)
      select p.id::text as subject from payments p
      where p.created_at > ${stored} and not exists (select from published where published.payment_id = p.id)`,
    // Checks references that have no foreign key, which would lock the referenced row for every payment.
    'every record that a payment refers to exists, and so does every payment that an event refers to': `
      select p.id::text as subject from payments p
      where p.created_at >= $since and (
        not exists (select from workspaces w cross join lateral ${balanceAccountsSql('w')} as holder(id) where w.id = p.workspace_id and holder.id = p.account_id)
        or not exists (select from beneficiaries b where b.id = p.beneficiary_id and b.workspace_id = p.workspace_id
          and b.payee_id in (p.payee_id, (select y.paybill_id from payees y where y.id = p.payee_id and y.reference_key = ${referenceKeySql('p.account_reference')})))
        or not exists (select from accounts a where a.id = p.initiator_account_id)
        or (p.grant_id is not null and not exists (select from grants g where g.id = p.grant_id)))
      union all
      select e.id::text from events e where e.payment_id is not null and e.transaction > $sealed_through and not exists (select from payments p where p.id = e.payment_id)`,
  },
})

/** The newest entry of a rail. `about`: condition on the entry. */
const newestOf = (rail: string, about = 'true'): string => `(
  select a.action from audit_log a where lower(a.action) in ('admin.pause_rail', 'admin.resume_rail') and a.after->>'rail' = ${rail} and (${about})
  order by a.transaction desc, a.id desc limit 1)`

/**
 * Entries of release 0.4.0 and earlier name no cause, and may be about any. `nameless`: the action that counts without a cause,
 * which is the one that agrees with the rows.
 */
const isAbout = (cause: string, nameless: 'pause' | 'resume'): string =>
  `coalesce(a.after->>'cause' = ${cause}, lower(a.action) = 'admin.${nameless}_rail')`

/** Rows that the audit log identifies by columns other than their id. */
const otherwise = sqlChecks({
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
      where ${newestOf('p.rail', isAbout('p.cause', 'pause'))} is distinct from 'admin.pause_rail'
        or not exists (select from audit_log a where lower(a.action) = 'admin.pause_rail' and (a.after->>'rail', a.at) = (p.rail, p.paused_at)
          and ${isAbout('p.cause', 'pause')})
      union all
      select r.rail || ' ' || r.cause from (
        select distinct a.after->>'rail' as rail, a.after->>'cause' as cause from audit_log a where lower(a.action) = 'admin.pause_rail') as r
      where ${newestOf('r.rail', isAbout('r.cause', 'resume'))} = 'admin.pause_rail' and not exists (select from rail_pauses p where (p.rail, p.cause) = (r.rail, r.cause))
      union all
      select r.rail from (select distinct a.after->>'rail' as rail from audit_log a where lower(a.action) = 'admin.pause_rail') as r
      where ${newestOf('r.rail')} = 'admin.pause_rail' and not exists (select from rail_pauses p where p.rail = r.rail)
      union all
      select rail || ' ' || account from duplicate_checks c where not exists (
        select from audit_log a where lower(a.action) = 'admin.pass_duplicate_check' and (a.after->>'rail', a.after->>'account') = (c.rail, c.account))
      union all
      select k.id from signing_keys k where (k.retired_at is not null) <> exists (
        select from audit_log a where lower(a.action) = 'admin.retire_receipt_key' and a.after->>'key' = k.id)`,
  },
})

export const entryChecks = [
  ...traces,
  ...Object.entries(auditedTables).map(([table, told]) => auditLogCheck(table, told)),
  ...otherwise,
]
