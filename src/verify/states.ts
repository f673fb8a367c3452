import { beginningOf, type CheckFacts, sqlCheck, typeIdSql } from '../db/check.ts'
import { edgesOf } from '../db/transitions.ts'

/** What was published, in its order: a type's first event may have any state that begins one. */
const moves = (['payment', 'topup', 'approval', 'mandate'] as const).map((resource) =>
  sqlCheck(
    'I5',
    `${resource}s move only where they may`,
    `select id || ': ' || before || ' to ' || status as subject from (
       select data->>'id' as id, data->>'status' as status,
         lag(data->>'status') over (partition by data->>'id' order by e.transaction, e.id) as before
       from told_events e where split_part(type, '.', 1) = '${resource}' and created_at >= $2::timestamptz) as told
     where before is not null and before <> status and before || '>' || status <> all ($1::text[])`,
    (facts) => [edgesOf(resource), beginningOf(facts)],
  ),
)

/** What has an event still, of what is looked at. */
const retainedSince = ({ now, eventRetentionDays, since }: CheckFacts): Date => {
  const retained = new Date(now.getTime() - eventRetentionDays * 86_400_000)
  return since !== null && since > retained ? since : retained
}

const lastTold = (resource: string, prefix: string, table: string, column: string) =>
  sqlCheck(
    'I8',
    `what was told last of ${resource}s is what they are`,
    `select t.id::text || ': told ' || told.status || ', is ' || t.status as subject
     from ${table} t join (
       select distinct on (data->>'id') data->>'id' as id, data->>'status' as status from told_events e
       where split_part(type, '.', 1) = '${resource}' and created_at >= $1::timestamptz order by data->>'id', e.transaction desc, e.id desc) as told
     on told.id = ${typeIdSql(prefix, 't.id')}
     where told.status <> t.status and t.${column} > $1::timestamptz`,
    (facts) => [retainedSince(facts)],
  )

const hourAgo = (now: Date): Date => new Date(now.getTime() - 3_600_000)

export const stateChecks = [
  ...moves,
  lastTold('payment', 'pay', 'payments', 'updated_at'),
  lastTold('topup', 'top', 'topups', 'updated_at'),
  lastTold('approval', 'apr', 'approvals', 'updated_at'),
  sqlCheck(
    'I5',
    'an approval is as its payment is, and has the decisions that it ended by',
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
    'a payment ends, or is unknown, within an hour after it was let go, and an hour after its approval ran out',
    `select id::text as subject from payments where status = 'processing' and updated_at < $1
     union all select p.id::text from payments p join approvals a on a.id = p.approval_id where p.status = 'pending_approval' and a.expires_at < $1
     union all select p.id::text from payments p where p.status = 'pending_approval' and p.approval_id is null`,
    ({ now }) => [hourAgo(now)],
  ),
  sqlCheck(
    'I6',
    'a payment that is processing waits in the queue or has an attempt under way; one that has ended has none',
    `select p.id::text as subject from payments p
     where p.status = 'processing' and p.dispatch_due_at is null
       and not exists (select from rail_attempts a where a.subject_id = p.id and a.state not in ('not_sent', 'resolved'))
     union all
     select p.id::text from rail_attempts a join payments p on p.id = a.subject_id
     where a.state in ('sending', 'submitted', 'lost') and p.status not in ('processing', 'unknown')`,
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
    'a top-up ends within a day, and what providers deliver is worked off within an hour',
    `select id::text as subject from topups where status = 'pending' and created_at < $1::timestamptz - interval '1 day'
     union all select id::text from callback_deliveries where processed_at is null and received_at < $1`,
    ({ now }) => [hourAgo(now)],
  ),
]
