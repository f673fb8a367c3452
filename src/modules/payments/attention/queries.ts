import { sql } from 'drizzle-orm'
import { prepare, prepareText } from '../../../db/prepare.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { suspenseItems } from '../../../db/tables/rails.ts'
import { countedPaymentStatuses } from '../../../db/transitions.ts'
import { inWorkspace } from '../../../ledger/hours.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { everyPayee } from '../../../policy/scope-sql.ts'
import { spending } from '../queries.ts'

type Asked = { accountId: Uuid; grantId: Uuid | null; label: string | null }

export type Unknown = { count: number; amountMinor: Minor; oldest: Uuid }
export type Repeated = Asked & {
  count: number
  payeeId: Uuid
  payeeName: string
  amountMinor: Minor
  firstAt: Date
  lastAt: Date
}
export type Refused = Asked & {
  count: number
  id: Uuid
  payeeId: Uuid | null
  payeeName: string | null
  amountMinor: Minor
  message: string
  at: Date
}
export type OtherNames = { count: number; payeeId: Uuid; payeeName: string; reportedName: string | null }
export type NearLimit = { id: Uuid; name: string; period: 'day' | 'month'; usedMinor: Minor; limitMinor: Minor }
type DaySpent = { date: string; count: number; amountMinor: Minor }

// SQL text: runs among bounded newest rows, and limits compared as two periods of one table, read one statement a kind.
// Each reads a bounded number of rows by an index, so they go together on the connection of pages, and those of several requests as one.

/** Those that count in the totals of their day although nothing of them was sent. */
const notSent = countedPaymentStatuses.filter((status) => !spending.includes(status))

/**
 * By the day whose limits count them, in which they were sent: the totals of each day, less what waits for an approval. Payments may be
 * millions; of totals there are a few rows a day.
 */
export const spentByDay = prepareText<DaySpent, { workspace: 'uuid'; since: 'date' }>(
  'attention.spent_by_day',
  { workspace: 'uuid', since: 'date' },
  `select day::text as date, sum(payments)::int as count, sum(minor)::bigint as "amountMinor" from (
     select day, payments, used_minor as minor from spending_totals
     where workspace_id = key.workspace and payee_id = '${everyPayee}' and day >= key.since
     union all
     select counted_day, -1, -amount_minor from payments
     where workspace_id = key.workspace and status in ${namesSql(notSent)} and counted_day >= key.since) as d
   group by day`,
  'page',
)

export const unknown = prepareText<Unknown, { workspace: 'uuid' }>(
  'attention.unknown',
  { workspace: 'uuid' },
  `select count(*)::int as count, sum(amount_minor)::bigint as "amountMinor",
     (select id from payments where workspace_id = key.workspace and status = 'unknown' order by id limit 1) as oldest
   from payments where workspace_id = key.workspace and status = 'unknown' having count(*) > 0`,
  'page',
)

/** How many alike within the window are worth a look: four equal payments are seldom meant. */
const alikeFrom = 4
const window = '90 minutes'
/** Bounds the work in a busy workspace: what repeats does so among the newest. */
const mostRead = 1_000

/**
 * Of each that are alike: the time up to which most were made within the window. A window's beginning is searched for in the sorted times: a
 * frame that moves along them reads each of its rows again for each of its ends.
 */
export const repeated = prepareText<Repeated, { workspace: 'uuid'; since: 'timestamptz' }>(
  'attention.repeated',
  { workspace: 'uuid', since: 'timestamptz' },
  `with newest as (
     select p.id, p.payee_id, p.beneficiary_id, p.amount_minor, p.initiator_account_id, p.grant_id, p.status, p.created_at
     from payments p where p.workspace_id = any(array[key.workspace])
       and (p.workspace_id, p.id) > (key.workspace, ${inWorkspace.idBehind('key.workspace', 'key.since')})
     order by p.workspace_id desc, p.id desc limit ${mostRead}),
   alike as (
     select payee_id, amount_minor, initiator_account_id, grant_id, array_agg(created_at order by created_at, id) as times,
       array_agg(beneficiary_id order by created_at, id) as beneficiary_ids
     from newest where created_at > key.since and status not in ('rejected', 'cancelled', 'expired', 'failed')
     group by 1, 2, 3, 4 having count(*) >= ${alikeFrom}),
   longest as (
     select a.amount_minor, a.initiator_account_id, a.grant_id, l.* from alike a cross join lateral (
       select r.last_at, r.n - r.earlier as within, a.times[r.earlier + 1] as first_at, a.beneficiary_ids[r.n] as beneficiary_id
       from (select at as last_at, n, width_bucket(at - interval '${window}' - interval '1 microsecond', a.times) as earlier
         from unnest(a.times) with ordinality as t(at, n) offset 0) as r
       order by within desc, last_at desc, r.n desc limit 1) as l
     where l.within >= ${alikeFrom} order by l.within desc, l.last_at desc limit 5)
   select l.within::int as count, b.id as "payeeId", b.display_name as "payeeName", l.amount_minor as "amountMinor",
     l.initiator_account_id as "accountId", l.grant_id as "grantId", g.label, l.first_at as "firstAt", l.last_at as "lastAt"
   from longest l cross join lateral (select id, display_name from beneficiaries where id = l.beneficiary_id offset 0) as b
     left join lateral (select label from grants where id = l.grant_id offset 0) as g on true
   order by l.within desc, l.last_at desc`,
  'page',
)

/** `within`: the grant of a delegated reader, which sees what it and the grants below it asked for. */
export const refused = prepareText<Refused, { workspace: 'uuid'; since: 'timestamptz'; within: 'uuid' }>(
  'attention.refused',
  { workspace: 'uuid', since: 'timestamptz', within: 'uuid' },
  `with newest as (
     select r.id, r.beneficiary_id, r.amount_minor, r.message, r.initiator_account_id, r.grant_id, r.created_at
     from payment_refusals r where r.workspace_id = key.workspace order by r.id desc limit ${mostRead}),
   recent as (
     select n.*, count(*) over asker as times, row_number() over (asker order by n.id desc) as place
     from newest n left join grants w on w.id = n.grant_id
     where n.created_at > key.since and (key.within is null or w.id = key.within or w.ancestor_ids @> array[key.within])
     window asker as (partition by n.initiator_account_id, n.grant_id))
   select r.times::int as count, r.id, b.id as "payeeId", b.display_name as "payeeName", r.amount_minor as "amountMinor", r.message,
     r.initiator_account_id as "accountId", r.grant_id as "grantId", g.label, r.created_at as at
   from recent r left join beneficiaries b on b.id = r.beneficiary_id left join grants g on g.id = r.grant_id
   where r.place = 1 order by r.id desc limit 5`,
  'page',
)

export const otherNames = prepareText<OtherNames, { workspace: 'uuid' }>(
  'attention.other_names',
  { workspace: 'uuid' },
  `select count(*) over ()::int as count, b.id as "payeeId", b.display_name as "payeeName", b.reported_name as "reportedName"
   from beneficiaries b where b.workspace_id = key.workspace and b.verification = 'no_match' and b.archived_at is null
   order by b.id desc limit 1`,
  'page',
)

/** Of the whole service: money in suspense belongs to no workspace yet. */
export const suspended = prepare(
  'attention.suspended',
  {},
  (orm) =>
    orm
      .select({
        count: sql<number>`count(*)::int`,
        amountMinor: sql<Minor>`coalesce(sum(${suspenseItems.amountMinor}), 0)::bigint`,
        oldestAt: sql<Date>`min(${suspenseItems.createdAt})`,
      })
      .from(suspenseItems)
      .where(sql`${suspenseItems.resolvedAt} is null and ${suspenseItems.direction} = 'in'`)
      .having(sql`count(*) > 0`),
  'pool',
)

export const nearLimits = prepareText<NearLimit, { workspace: 'uuid'; day: 'date'; month: 'date' }>(
  'attention.near_limits',
  { workspace: 'uuid', day: 'date', month: 'date' },
  `select p.id, p.name, c.period, c.used_minor as "usedMinor", l.limit_minor as "limitMinor"
   from spending_policies p
   cross join lateral (values ('day', key.day, p.daily_limit_minor), ('month', key.month, p.monthly_limit_minor)) as l(period, start, limit_minor)
   join usage_counters c on c.subject_id = p.id and c.period = l.period and c.period_start = l.start
   where p.workspace_id = key.workspace and p.archived_at is null and l.limit_minor > 0 and c.used_minor * 10 >= l.limit_minor * 8
   order by c.used_minor::numeric / l.limit_minor desc, p.id limit 5`,
  'page',
)
