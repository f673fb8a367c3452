import { sqlChecks } from '../../db/check.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { balanceAccountSql } from '../../db/tables/workspaces.ts'
import { edgesOf, type Resource, underWayPaymentsSql, waitingPaymentsSql } from '../../db/transitions.ts'
import { typeIdSql } from './audit-log.ts'

/** The time from which all events of the checked records are still stored. */
const allStoredFrom = 'greatest($since, $retained)'

/** Events with their data. Must be materialized, because joins and sorts would otherwise carry whole documents. */
const eventsSql = (resource: Resource, name = `data->>'id'`): string => `
  select transaction, id, ${name} as name, data->>'status' as status from events
  where type like '${resource}.%' and data is not null and created_at >= $since and transaction > $sealed_through`

/**
 * Encodes each record's id only once, whatever the join plan, because encoding takes most of the time. The first event of a
 * record may have any initial status. The row of a mandate may still be active after the mandate has ended.
 */
const transitionChecks = Object.fromEntries(
  (
    [
      { resource: 'topup', table: 'topups', endsWithRowStatus: true },
      { resource: 'payment_batch', table: 'payment_batches', endsWithRowStatus: true },
      { resource: 'approval', table: 'approvals', endsWithRowStatus: true },
      { resource: 'mandate', table: 'intent_mandates', endsWithRowStatus: false },
    ] as const
  ).map(({ resource, table, endsWithRowStatus }) => [
    `the published statuses of every ${resource} follow the allowed transitions${endsWithRowStatus ? ' and end with its status' : ''}`,
    `with records as materialized (
       select id, status as current, updated_at, ${typeIdSql(resource, 't.id')} as name from ${table} t where updated_at >= $since),
     published as materialized (${eventsSql(resource)}),
     stated as (
       select r.id, r.current, r.updated_at, e.status, lag(e.status) over earlier as before, lead(e.status) over earlier as after
       from published e join records r on r.name = e.name
       window earlier as (partition by r.id order by e.transaction, e.id))
     select id || ': published ' || coalesce(before || ' to ', '') || status || ', is ' || current as subject from stated
     where (before <> status and before || '>' || status not in ${namesSql(edgesOf(resource))})
       or (${endsWithRowStatus} and after is null and status <> current and updated_at > ${allStoredFrom})`,
  ]),
)

/** A payment's first status: approval is requested at creation, or when due if the payment is scheduled. */
const firstStatus = `case when execute_at is not null then 'scheduled' when approval_id is not null then 'pending_approval' else 'processing' end`

/** For a scheduled payment that waits for an approval, the approval's event reports this. */
const paymentEdges = namesSql([...edgesOf('payment'), 'scheduled>rejected', 'scheduled>expired'])

/** Creation events must have the payment's first status. Checked for payments whose events are all stored and read. */
const paymentTransitions = `
  with records as materialized (
     select id, status as current, updated_at, case when created_at >= $since and created_at >= ${allStoredFrom} then ${firstStatus} end as first
     from payments p where updated_at >= $since),
   published as materialized (${eventsSql('payment', 'payment_id')}),
   stated as (
     select r.id, r.current, r.updated_at, r.first, e.transaction, e.status, lag(e.status) over earlier as before, lead(e.status) over earlier as after
     from records r left join published e on e.name = r.id
     window earlier as (partition by r.id order by e.transaction, e.id)),
   created as materialized (
     select payment_id, transaction from events
     where type = 'payment.created' and created_at >= $since and transaction > $sealed_through)
   select s.id || ': published ' || coalesce(coalesce(before, first) || ' to ', '') || coalesce(status, 'nothing') || ', is ' || current as subject
   from stated s left join created c on c.payment_id = s.id
   where (coalesce(before, first) <> status and coalesce(before, first) || '>' || status not in ${paymentEdges})
     or (after is null and coalesce(status, first) <> current and updated_at > ${allStoredFrom}
       and not (current = 'pending_approval' and coalesce(status, first) = 'scheduled'))
     or c.transaction > s.transaction`

/** After a separation, pending work moves to the new balance account, while earlier decisions remain on the old one. */
const wasSeparated = (workspace: string): string =>
  `coalesce((select w.separated_at is not null from workspaces w where w.id = ${workspace}), false)`

export const stateChecks = sqlChecks({
  I5: {
    'the published statuses of every payment follow the allowed transitions, start with its creation and end with its status':
      paymentTransitions,
    ...transitionChecks,
    // A scheduled payment holds no money: if its approval ends, the payment fails or is cancelled.
    'the status of every approval agrees with its payment and its decisions': `
      select a.id::text as subject from approvals a join payments p on p.id = a.payment_id
        cross join lateral (
          select count(distinct d.account_id) filter (where decision = 'approve') as given, count(*) filter (where decision = 'reject') as refused
          from approval_decisions d left join approval_voids v on v.decision_id = d.id
          where d.approval_id = a.id and (v.decision_id is null or v.voided_at >= a.updated_at)) as d
      where a.updated_at >= $since and (p.approval_id is distinct from a.id or (p.status = 'pending_approval' and a.status <> 'pending') or (a.status = 'pending' and p.status not in ${waitingPaymentsSql})
         or (a.status in ('rejected', 'expired', 'cancelled') and p.status <> case
           when p.hold_transfer_id is not null then a.status when a.status = 'expired' then 'failed' else 'cancelled' end)
         or (a.status = 'approved' and (d.given < a.required_approvals or d.refused > 0)) or (a.status = 'rejected' and d.refused = 0))`,
  },
  I6: {
    'every payment ends or becomes unknown in time after its release, its due time or the expiry of its approval': `
      select id::text as subject from payments p where status = 'processing' and updated_at < $now - interval '1 hour'
        and (dispatch_due_at is null or (updated_at < $queued_since and not exists (select from rail_pauses r where r.rail = p.rail)
          and not exists (select from audit_log l where lower(l.action) = 'admin.resume_rail' and l.at > $queued_since and l.after->>'rail' = p.rail)))
      union all select p.id::text from payments p join approvals a on a.id = p.approval_id where p.status = 'pending_approval' and a.expires_at < $now - interval '1 hour'
      union all select p.id::text from payments p where p.status = 'scheduled' and (p.execute_at < $now - interval '1 hour' or p.hold_transfer_id is not null)
      union all select p.id::text from payments p where p.status = 'pending_approval' and p.approval_id is null`,
    'every processing payment is queued or has an active attempt, and no ended payment has an active attempt': `
      select p.id::text as subject from payments p
      where p.status = 'processing' and p.dispatch_due_at is null
        and not exists (select from rail_attempts a where a.subject_id = p.id and a.state not in ('not_sent', 'resolved'))
      union all
      select p.id::text from rail_attempts a join payments p on p.id = a.subject_id
      where a.state in ('sending', 'submitted', 'lost') and p.status not in ${underWayPaymentsSql}`,
    'every top-up ends within an hour after its expiry unless its money is in suspense, and every callback is processed within an hour': `
      select t.id::text as subject from topups t where t.status = 'pending' and t.expires_at < $now - interval '1 hour'
        and not exists (select from suspense_items s where s.subject_id = t.id and s.resolved_at is null)
      union all select d.id::text from callback_deliveries d join rail_attempts a on a.id = d.attempt_id
      where d.processed_at is null and d.received_at < $now - interval '1 hour'`,
  },
  I8: {
    'every outcome at the expense of the organisation has a posted adjustment of the same amount': `
      select p.id::text as subject from payments p
      cross join lateral (values
        ('payment_failed', p.failure_code = 'resolved_by_operator', p.amount_minor),
        ('late_success_written_off', p.late_success_resolution = 'written_off', p.late_success_amount_minor)) as cost(kind, decided, amount_minor)
      where p.updated_at >= $since and cost.decided and not exists (
        select from adjustments a where a.payment_id = p.id and a.kind = cost.kind and a.status = 'posted' and a.amount_minor = cost.amount_minor)`,
    'an outcome waits for a second administrator only while it is still possible for the payment': `
      select a.id::text as subject from adjustments a join payments p on p.id = a.payment_id
      where a.status = 'pending'
        and case a.kind when 'payment_failed' then p.status <> 'unknown' else p.late_success_resolution is not null end`,
  },
  I13: {
    'every row that belongs to a payment or a top-up has the same account': `
      select a.id::text as subject from rail_attempts a left join payments p on p.id = a.subject_id left join topups t on t.id = a.subject_id
      where a.updated_at >= $since and a.account_id <> coalesce(p.account_id, t.account_id)
      union all select d.id::text from callback_deliveries d join rail_attempts a on a.id = d.attempt_id
      where d.received_at >= $since and d.account_id is distinct from a.account_id
      union all select a.id::text from approvals a join payments p on p.id = a.payment_id where a.updated_at >= $since and a.account_id <> p.account_id
      union all select d.id::text from approval_decisions d join approvals a on a.id = d.approval_id
      where d.decided_at >= $since and d.owning_account_id <> a.account_id and not ${wasSeparated('a.workspace_id')}
      union all select v.decision_id::text from approval_voids v join approval_decisions d on d.id = v.decision_id
      where v.voided_at >= $since and v.owning_account_id <> d.owning_account_id
        and not ${wasSeparated('(select a.workspace_id from approvals a where a.id = d.approval_id)')}
      union all select k.subject_id::text from usage_counters k left join grants g on g.id = k.subject_id left join spending_policies s on s.id = k.subject_id
        left join intent_mandates m on m.id = k.subject_id join workspaces w on w.id in (g.workspace_id, s.workspace_id, m.workspace_id)
      where k.account_id <> ${balanceAccountSql('w')}
      union all select t.workspace_id::text from spending_totals t join workspaces w on w.id = t.workspace_id where t.account_id <> ${balanceAccountSql('w')}`,
    'every payment has at most one active attempt, and every earlier attempt is proven unsent': `
      select subject_id::text as subject from rail_attempts where state <> 'not_sent' group by subject_id having count(*) > 1
      union all
      select a.subject_id::text from rail_attempts a join rail_attempts later on later.subject_id = a.subject_id and later.created_at > a.created_at
      where a.state <> 'not_sent' and later.created_at >= $since`,
  },
})
