import { sql } from 'drizzle-orm'
import type { z } from 'zod'
import { maySeeBalance, type Principal } from '../../../auth/principal.ts'
import { prepare, prepareText } from '../../../db/prepare.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { suspenseItems } from '../../../db/tables/rails.ts'
import { countedPaymentStatuses } from '../../../db/transitions.ts'
import { presenter } from '../../../http/presenter.ts'
import { paymentIds } from '../../../ledger/id-bounds.ts'
import { daysAfter, lastDays } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import { everyPayee, totalStart } from '../../../policy/scope-sql.ts'
import type { Creator } from '../../../policy/types.ts'
import { presentCreator } from '../../present-creator.ts'
import { spending } from '../queries.ts'
import type { Deps } from '../request.ts'
import {
  type Attention,
  BalanceShort,
  DepositsInSuspense,
  LimitNearlyUsed,
  NamesDiffer,
  RefusedPayments,
  RepeatedPayments,
  UnknownPayments,
} from './schema.ts'
import { readShortage, type Shortage } from './shortage.ts'

type Named = { payeeId: Uuid; payeeName: string | null }
type Repeated = Creator & Named & { count: number; amountMinor: Minor; firstAt: Date; lastAt: Date }
type RefusedRow = { count: number; id: Uuid; amountMinor: Minor; message: string; createdAt: Date }
type Refused = Creator & RefusedRow & { payeeId: Uuid | null; payeeName: string | null }
type NearLimit = { policyId: Uuid; name: string; period: 'day' | 'month' | 'total'; usedMinor: Minor; limitMinor: Minor }

// Raw SQL, to find runs among the newest rows and to compare limits of several periods. Each query reads a bounded number of rows
// by an index, so all share the connection for pages.

/** Statuses that count in the daily totals although their money was not spent: it is held, or was returned. */
const notSpent = countedPaymentStatuses.filter((status) => !spending.includes(status))

/** Totals by counted day, without money that was not spent. */
const spentByDay = prepareText<{ date: string; count: number; amountMinor: Minor }>()(
  'attention.spent_by_day',
  { workspace: 'uuid', since: 'date' },
  `select day::text as date, sum(payments)::int as count, sum(minor)::bigint as "amountMinor" from (
     select day, payments, used_minor as minor from spending_totals
     where workspace_id = key.workspace and payee_id = '${everyPayee}' and day >= key.since
     union all
     select counted_day, -1, -amount_minor from payments
     where workspace_id = key.workspace and status in ${namesSql(notSpent)} and counted_day >= key.since) as d
   group by day`,
  'page',
)

const unknown = prepareText<{ count: number; amountMinor: Minor; paymentId: Uuid }>()(
  'attention.unknown',
  { workspace: 'uuid' },
  `select count(*)::int as count, sum(amount_minor)::bigint as "amountMinor",
     (select id from payments where workspace_id = key.workspace and status = 'unknown' order by id limit 1) as "paymentId"
   from payments where workspace_id = key.workspace and status = 'unknown' having count(*) > 0`,
  'page',
)

/** Number of equal payments within the window that deserves attention: four are seldom intended. */
const alikeFrom = 4
const repeatWindow = '90 minutes'
/** Bounds the work in a busy workspace: only the newest payments are searched for repetitions. */
const maxRowsRead = 1_000

/**
 * For each group of equal payments, finds the window with the most of them. `any(array[…])` hides the equality from the planner,
 * which would otherwise read the newest payments of all workspaces.
 */
const repeated = prepareText<Repeated>()(
  'attention.repeated',
  { workspace: 'uuid', since: 'timestamptz' },
  `with newest as (
     select p.id, p.payee_id, p.beneficiary_id, p.amount_minor, p.initiator_account_id, p.grant_id, p.status, p.created_at
     from payments p where p.workspace_id = any(array[key.workspace])
       and (p.workspace_id, p.id) > (key.workspace, ${paymentIds.lowerBound('key.workspace', 'key.since')})
     order by p.workspace_id desc, p.id desc limit ${maxRowsRead}),
   counted as (
     select n.*, count(*) over alike as within, first_value(created_at) over alike as first_at from newest n
     where created_at > key.since and status not in ('rejected', 'cancelled', 'expired', 'failed')
     window alike as (partition by payee_id, amount_minor, initiator_account_id, grant_id order by created_at
       range between interval '${repeatWindow}' preceding and current row)),
   longest as (
     select distinct on (payee_id, amount_minor, initiator_account_id, grant_id) * from counted where within >= ${alikeFrom}
     order by payee_id, amount_minor, initiator_account_id, grant_id, within desc, created_at desc, id desc)
   select l.within::int as count, b.id as "payeeId", b.display_name as "payeeName", l.amount_minor as "amountMinor",
     l.initiator_account_id as "accountId", l.grant_id as "grantId", g.label, l.first_at as "firstAt", l.created_at as "lastAt"
   from (select * from longest order by within desc, created_at desc limit 5) as l
     join beneficiaries b on b.id = l.beneficiary_id left join grants g on g.id = l.grant_id
   order by l.within desc, l.created_at desc`,
  'page',
)

/** `within`: the grant of a delegated reader, who sees only requests of this grant and its descendants. */
const refused = prepareText<Refused>()(
  'attention.refused',
  { workspace: 'uuid', since: 'timestamptz', within: 'uuid' },
  `with newest as (
     select r.id, r.beneficiary_id, r.amount_minor, r.message, r.initiator_account_id, r.grant_id, r.created_at
     from payment_refusals r where r.workspace_id = key.workspace order by r.id desc limit ${maxRowsRead}),
   recent as (
     select n.*, count(*) over requester as times, row_number() over (requester order by n.id desc) as place
     from newest n left join grants w on w.id = n.grant_id
     where n.created_at > key.since and (key.within is null or w.id = key.within or w.ancestor_ids @> array[key.within])
     window requester as (partition by n.initiator_account_id, n.grant_id))
   select r.times::int as count, r.id, b.id as "payeeId", b.display_name as "payeeName", r.amount_minor as "amountMinor", r.message,
     r.initiator_account_id as "accountId", r.grant_id as "grantId", g.label, r.created_at as "createdAt"
   from recent r left join beneficiaries b on b.id = r.beneficiary_id left join grants g on g.id = r.grant_id
   where r.place = 1 order by r.id desc limit 5`,
  'page',
)

const otherNames = prepareText<Named & { count: number; reportedName: string | null }>()(
  'attention.other_names',
  { workspace: 'uuid' },
  `select count(*) over ()::int as count, b.id as "payeeId", b.display_name as "payeeName", b.reported_name as "reportedName"
   from beneficiaries b where b.workspace_id = key.workspace and b.verification = 'no_match' and b.archived_at is null
   order by b.id desc limit 1`,
  'page',
)

/** Covers the whole service, because money in suspense belongs to no workspace yet. */
const suspended = prepare('attention.suspended', {}, 'pool', (orm) =>
  orm
    .select({
      count: sql<number>`count(*)::int`,
      amountMinor: sql<Minor>`coalesce(sum(${suspenseItems.amountMinor}), 0)::bigint`,
      oldestAt: sql<Date>`min(${suspenseItems.createdAt})`,
    })
    .from(suspenseItems)
    .where(sql`${suspenseItems.resolvedAt} is null and ${suspenseItems.direction} = 'in'`)
    .having(sql`count(*) > 0`),
)

const nearLimits = prepareText<NearLimit>()(
  'attention.near_limits',
  { workspace: 'uuid', day: 'date', month: 'date' },
  `select p.id as "policyId", p.name, c.period, c.used_minor as "usedMinor", l.limit_minor as "limitMinor"
   from spending_policies p
   cross join lateral (values ('day', key.day, p.daily_limit_minor), ('month', key.month, p.monthly_limit_minor),
     ('total', date '${totalStart}', p.total_limit_minor)) as l(period, start, limit_minor)
   join usage_counters c on c.subject_id = p.id and c.period = l.period and c.period_start = l.start
   where p.workspace_id = key.workspace and p.archived_at is null and l.limit_minor > 0 and c.used_minor * 10 >= l.limit_minor * 8
   order by c.used_minor::numeric / l.limit_minor desc, p.id limit 5`,
  'page',
)

const days = 30

const payeeOf = ({ payeeId, payeeName }: Named) => ({ id: formatId('beneficiary', payeeId), display_name: payeeName ?? '' })

const shownShortage = presenter(BalanceShort.shape.shortage)
const shownUnknown = presenter(UnknownPayments)
const shownRepeated = presenter(RepeatedPayments)
const shownRefused = presenter(RefusedPayments.shape.last)
const shownNames = presenter(NamesDiffer)
const shownLimit = presenter(LimitNearlyUsed)
const shownDeposits = presenter(DepositsInSuspense)

/** The total due, less the amount missing, is the balance. */
const visibleShortage = (reader: Principal, { missingMinor, ...shortage }: Shortage) =>
  shownShortage({ workspaceId: reader.workspace.id, ...shortage, missingMinor: maySeeBalance(reader) ? missingMinor : null })

/**
 * Order: payments that will fail for lack of money, then payments to investigate, names, and limits. Money in suspense is last,
 * because it belongs to no workspace yet.
 */
export const readAttention = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'refusals'>,
  principal: Principal,
): Promise<z.output<typeof Attention>> => {
  const { db } = deps
  const { workspace, grant, permissions, isAdmin } = principal
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace, at)
  const periods = periodsAt(at, zone)
  const dates = lastDays(periods.day, days)
  const own = { workspace: workspace.id }
  const recent = { ...own, since: daysAfter(at, -1) }
  await deps.refusals.settled()
  const [byDay, uncertain, alike, refusals, names, limits, suspense, shortage] = await Promise.all([
    db.run(spentByDay, { ...own, since: dates[0] ?? '' }),
    db.run(unknown, own),
    db.run(repeated, recent),
    db.run(refused, { ...recent, within: grant?.id ?? null }),
    permissions.has('beneficiary.read') ? db.run(otherNames, own) : [],
    permissions.has('policy.read') ? db.run(nearLimits, { ...own, day: periods.day, month: periods.month }) : [],
    isAdmin ? db.run(suspended, {}) : [],
    readShortage(db, workspace.id, at),
  ])
  return {
    currency: deps.config.CURRENCY,
    by_day: dates.map((date) => {
      const row = byDay.find((candidate) => candidate.date === date)
      return { date, count: row?.count ?? 0, amount_minor: formatMinor(row?.amountMinor ?? 0n) }
    }),
    needs: [
      ...(shortage ? [{ kind: 'balance_short' as const, shortage: visibleShortage(principal, shortage) }] : []),
      ...uncertain.map((row) => shownUnknown(row, { kind: 'unknown_payments' })),
      ...alike.map((row) =>
        shownRepeated(row, { kind: 'repeated_payments', beneficiary: payeeOf(row), by: presentCreator(row) }),
      ),
      ...refusals.map((row) => ({
        kind: 'refused_payments' as const,
        count: row.count,
        by: presentCreator(row),
        last: shownRefused(row, { beneficiary: row.payeeId === null ? null : payeeOf({ ...row, payeeId: row.payeeId }) }),
      })),
      ...names.map((row) => shownNames(row, { kind: 'names_differ', beneficiary: payeeOf(row) })),
      ...limits.map((row) => shownLimit(row, { kind: 'limit_nearly_used' })),
      ...suspense.map((row) => shownDeposits(row, { kind: 'deposits_in_suspense' })),
    ],
  }
}
