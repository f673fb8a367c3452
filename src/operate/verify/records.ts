import { sqlChecks } from '../../db/check.ts'

/** Time zone changes of workspaces from the log. `decides_from`: for a cancelled change, the time of the cancelling entry. */
const zoneChanges = `changes as (
  select subject_id as id, at, after->>'time_zone' as zone, (after->>'time_zone_from')::timestamptz as decides_from,
    before->>'time_zone' as zone_before, before->>'next_time_zone' as next_before,
    lag((after->>'time_zone_from')::timestamptz) over (partition by subject_id order by transaction, id) as changed_before,
    row_number() over (partition by subject_id order by transaction desc, id desc) as age
  from audit_log where lower(action) = 'workspace.update' and after->>'time_zone_from' is not null)`

export const recordChecks = sqlChecks({
  I8: {
    'every payment event has the workspace and the account of its payment': `
      select e.id::text as subject from events e join payments p on p.id = e.payment_id left join workspaces w on w.id = p.workspace_id
      where e.created_at >= $since and e.transaction > $sealed_through and (e.workspace_id is distinct from p.workspace_id
        or (w.id is not null and e.account_id in (p.account_id, w.owning_account_id, w.balance_account_id)) is not true)`,
    'every sweep is due within its interval, and no verification is dated in the future': `
      select name as subject from schedules where next_run_at > now() + make_interval(secs => every_seconds) + interval '1 minute'
      union all select name from verify_points where at > greatest($now, now()) + interval '1 minute'`,
  },
  I21: {
    'every trigger that protects a table is enabled': `
      select t.tgrelid::regclass || '.' || t.tgname as subject from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and t.tgenabled in ('D', 'R') and c.relnamespace = current_schema()::regnamespace`,
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
        case when c.id is null then coalesce(made.after->>'time_zone', 'Africa/Nairobi') when c.changed_before <= c.at then coalesce(c.next_before, c.zone_before)
          else c.zone_before end,
        case when c.decides_from > c.at then c.zone end, case when c.decides_from > c.at then c.decides_from end)
      union all
      select z.workspace_id::text from workspace_time_zones z join workspaces w on w.id = z.workspace_id
      where z.from_at <> w.created_at and not exists (
        select from changes c where c.id = z.workspace_id and (c.decides_from, c.zone) = (z.from_at, z.time_zone))`,
    'every settlement by a callback has that callback': `
      select l.subject_id::text as subject from audit_log l join rail_attempts a on a.subject_id = l.subject_id
      where l.at >= $since and l.credential_kind = 'rail:delivery' and l.action in ('payment.succeeded', 'payment.failed', 'payment.returned', 'topup.succeeded', 'topup.failed')
        and exists (select from callback_deliveries d where d.attempt_id = a.id)
        and not exists (select from rail_attempts o join callback_deliveries d on d.attempt_id = o.id
          where o.subject_id = l.subject_id and d.processed_at = l.at and d.verdict = 'applied')
        and not exists (select from deposits d where d.topup_id = l.subject_id and d.settled_at = l.at)`,
    'every reconciliation has as many differences as it reported': `
      select r.id::text as subject from reconciliations r
      where r.created_at >= $since and r.differences <> (select count(*) from reconciliation_differences d where d.reconciliation_id = r.id)`,
  },
})
