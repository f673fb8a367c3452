import { beginningOf, type CheckFacts, sqlCheck, typeIdSql } from '../db/check.ts'
import { edgesOf, underWayPaymentsSql } from '../db/transitions.ts'

/** The published states, in order: a type's first event may have any state with which a record can begin. */
const moves = (['payment', 'topup', 'approval', 'mandate'] as const).map((resource) =>
  sqlCheck(
    'I5',
    `the status of every ${resource} changes only along the table of transitions`,
    `select id || ': ' || before || ' to ' || status as subject from (
       select data->>'id' as id, data->>'status' as status,
         lag(data->>'status') over (partition by data->>'id' order by e.transaction, e.id) as before
       from published_events e where split_part(type, '.', 1) = '${resource}' and created_at >= $2::timestamptz) as published
     where before is not null and before <> status and before || '>' || status <> all ($1::text[])`,
    (facts) => [edgesOf(resource), beginningOf(facts)],
  ),
)

/** Records whose events are still stored, among those that are checked. */
const retainedSince = ({ now, eventRetentionDays, since }: CheckFacts): Date => {
  const retained = new Date(now.getTime() - eventRetentionDays * 86_400_000)
  return since !== null && since > retained ? since : retained
}

const lastPublished = (resource: 'payment' | 'topup' | 'approval', table: string) =>
  sqlCheck(
    'I8',
    `the last published status of every ${resource} is its status`,
    `select t.id::text || ': published ' || published.status || ', is ' || t.status as subject
     from ${table} t join (
       select distinct on (data->>'id') data->>'id' as id, data->>'status' as status from published_events e
       where split_part(type, '.', 1) = '${resource}' and created_at >= $1::timestamptz order by data->>'id', e.transaction desc, e.id desc) as published
     on published.id = ${typeIdSql(resource, 't.id')}
     where published.status <> t.status and t.updated_at > $1::timestamptz`,
    (facts) => [retainedSince(facts)],
  )

const hourAgo = (now: Date): Date => new Date(now.getTime() - 3_600_000)

export const stateChecks = [
  ...moves,
  lastPublished('payment', 'payments'),
  lastPublished('topup', 'topups'),
  lastPublished('approval', 'approvals'),
  sqlCheck(
    'I5',
    'the status of an approval agrees with its payment and with its decisions',
    `select a.id::text as subject from approvals a join payments p on p.id = a.payment_id
       cross join lateral (
         select count(*) filter (where decision = 'approve') as given, count(*) filter (where decision = 'reject') as refused
         from approval_decisions d where d.approval_id = a.id) as d
     where a.updated_at >= $1::timestamptz and (p.approval_id is distinct from a.id or (a.status = 'pending') <> (p.status = 'pending_approval')
        or (a.status in ('rejected', 'expired', 'cancelled') and p.status <> a.status)
        or (a.status = 'approved' and (d.given < a.required_approvals or d.refused > 0)) or (a.status = 'rejected' and d.refused = 0))`,
    (facts) => [beginningOf(facts)],
  ),
  sqlCheck(
    'I6',
    'a payment ends, or is unknown, within an hour after it was released, and within an hour after its approval expired',
    `select id::text as subject from payments where status = 'processing' and updated_at < $1
     union all select p.id::text from payments p join approvals a on a.id = p.approval_id where p.status = 'pending_approval' and a.expires_at < $1
     union all select p.id::text from payments p where p.status = 'pending_approval' and p.approval_id is null`,
    ({ now }) => [hourAgo(now)],
  ),
  sqlCheck(
    'I6',
    'a payment that is processing is in the queue or has an attempt under way; one that has ended has none',
    `select p.id::text as subject from payments p
     where p.status = 'processing' and p.dispatch_due_at is null
       and not exists (select from rail_attempts a where a.subject_id = p.id and a.state not in ('not_sent', 'resolved'))
     union all
     select p.id::text from rail_attempts a join payments p on p.id = a.subject_id
     where a.state in ('sending', 'submitted', 'lost') and p.status not in ${underWayPaymentsSql}`,
  ),
  sqlCheck(
    'I13',
    'a payment has one live attempt at most, and every one before it is proven not to have been sent',
    `select subject_id::text as subject from rail_attempts where state <> 'not_sent' group by subject_id having count(*) > 1
     union all
     select a.subject_id::text from rail_attempts a join rail_attempts later on later.subject_id = a.subject_id and later.created_at > a.created_at
     where a.state <> 'not_sent' and later.created_at >= $1::timestamptz`,
    (facts) => [beginningOf(facts)],
  ),
  sqlCheck(
    'I6',
    'a top-up ends within a day, and deliveries of providers are processed within an hour',
    `select id::text as subject from topups where status = 'pending' and created_at < $1::timestamptz - interval '1 day'
     union all select id::text from callback_deliveries where processed_at is null and received_at < $1`,
    ({ now }) => [hourAgo(now)],
  ),
]
