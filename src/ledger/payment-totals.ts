import { and, eq } from 'drizzle-orm'
import { type Database, type Db, first, statement } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { namesSql } from '../db/tables/columns.ts'
import { paymentPoints, paymentTotals } from '../db/tables/ledger.ts'
import { keyList, readTogether } from '../db/together.ts'
import { type StateOf, unendedPaymentStatuses } from '../db/transitions.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { inWorkspace } from './booked-between.ts'
import { beginningSql } from './booking-spans.ts'
import { type NamedSpan, spansSql, spanTypes } from './booking-totals.ts'
import { advanceSums, lateSql, movedSql, point, pointSql, settledSql } from './settled-transfers.ts'

/** A transfer that ends a payment's hold, of transfers `t`; and the payment as it ended, where it is `p`: what was returned had succeeded. */
export const endsPayment = `t.kind in ('post', 'void') and t.reference_type = 'payment'`
export const endedStatus = `case t.kind when 'post' then 'succeeded' else p.status end`

const begin = statement(
  'payments.totals_begin',
  `insert into payment_points (name, through) values ('${point}', '${firstId}') on conflict (name) do nothing`,
)

const lock = prepare('payments.totals_lock', { name: 'text' }, (orm, at) =>
  orm.select({ through: paymentPoints.through }).from(paymentPoints).where(eq(paymentPoints.name, at.name)).for('update'),
)

const unitsSql = (['hour', 'day', 'month'] as const)
  .map((unit) => `('${unit}', ${beginningSql(unit, 'e.created_at')})`)
  .join(', ')

/** `offset 0`: a payment is looked up for each row; joined, the plan for an unknown number of rows reads every payment. */
const advance = statement(
  'payments.totals_advance',
  `with ${settledSql('payments')},
     ended as (
       select p.* from counted t cross join lateral (
         select p.account_id, p.workspace_id, p.created_at, ${endedStatus} as status, p.amount_minor
         from payments p where p.id = t.reference_id offset 0) as p
       where ${endsPayment}),
     summed as (
       insert into payment_totals (account_id, workspace_id, unit, begins, status, payments, amount_minor)
       select e.account_id, e.workspace_id, u.unit, u.begins, e.status, count(*), sum(e.amount_minor)
       from ended e cross join lateral (values ${unitsSql}) as u(unit, begins) group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
       on conflict (account_id, workspace_id, unit, begins, status) do update set payments = payment_totals.payments + excluded.payments,
         amount_minor = payment_totals.amount_minor + excluded.amount_minor)
   update payment_points p set ${movedSql}`,
)

export const advancePaymentTotals = (db: Database): Promise<void> => advanceSums(db, { begin, lock, advance })

/**
 * Of a workspace and its owner: the sums that are stored; payments that these have not or not as they are now, by the hours in which they
 * were made: ended behind the point, not ended, returned, which are stored as succeeded, and ended without a hold; and each payment of a span that
 * is no whole unit. `offset 0` keeps each lookup apart: joined, the plan reads every sum of the workspace. Bounds as in `bookedSql`.
 */
const sums = readTogether<PaymentSum, { account_id: 'uuid'; workspace_id: 'uuid' }, typeof spanTypes>(
  'payments.sums',
  { account_id: 'uuid', workspace_id: 'uuid' },
  `with ${pointSql('payment_points')},
   ${spansSql(keyList)},
   other as (
     select e.* from (
       select t.* from ledger_transfers t where t.customer_account_id = key.account_id
         and (t.customer_account_id, t.id) > (key.account_id, (select through from point)) and ${endsPayment}
       union all
       select t.* ${lateSql('payments', 'key.account_id')} and ${endsPayment}) as t
     cross join lateral (
       select p.created_at, ${endedStatus} as status, 1 as payments, p.amount_minor
       from payments p where p.id = t.reference_id and p.workspace_id = key.workspace_id offset 0) as e
     union all
     select p.created_at, m.status, m.sign, m.sign * p.amount_minor
     from payments p cross join lateral (select p.status, 1 union all select 'succeeded', -1 where p.status = 'returned') as m(status, sign)
     where p.workspace_id = key.workspace_id and p.status in ${namesSql([...unendedPaymentStatuses, 'returned'])}
     union all
     select created_at, status, 1, amount_minor from payments where workspace_id = key.workspace_id and hold_transfer_id is null and status <> 'scheduled'),
   hourly as (
     select ${beginningSql('hour', 'created_at')} as begins, status, sum(payments) as payments, sum(amount_minor) as amount_minor from other group by 1, 2)
   select label, status, sum(payments)::int as count, sum(amount_minor)::bigint as "amountMinor" from (
     select s.label, b.* from spans s cross join lateral (
       select b.status, b.payments, b.amount_minor from payment_totals b
       where b.account_id = key.account_id and b.workspace_id = key.workspace_id and b.unit = s.unit and b.begins >= s.begins and b.begins < s.ends offset 0) as b
     union all
     select s.label, h.status, h.payments, h.amount_minor from spans s join hourly h on s.unit is not null and h.begins >= s.begins and h.begins < s.ends
     union all
     select s.label, l.status, 1, l.amount_minor from spans s cross join lateral (
       select p.status, p.amount_minor from payments p
       where s.unit is null and p.workspace_id = any(array[key.workspace_id]) and (p.created_at >= s.begins and p.created_at < s.ends) is true
         and (p.workspace_id, p.id) > (key.workspace_id, ${inWorkspace.idBehind('key.workspace_id', 's.begins')})
         and (p.workspace_id, p.id) < (key.workspace_id, ${inWorkspace.idAhead('key.workspace_id', 's.ends')}) offset 0) as l
   ) as summed group by 1, 2 having sum(payments) > 0 order by 1, 2`,
  'pool',
  { list: spanTypes },
)

const stored = prepare(
  'payments.stored_sums',
  { accountId: 'uuid', workspaceId: 'uuid' },
  (orm, at) =>
    orm
      .select({ begins: paymentTotals.begins })
      .from(paymentTotals)
      .where(and(eq(paymentTotals.accountId, at.accountId), eq(paymentTotals.workspaceId, at.workspaceId)))
      .limit(1),
  'joined',
)

type SummedWorkspace = { id: Uuid; owningAccountId: Uuid }

/** Where no sum is stored yet, all payments have to be read, and reading them as they are costs less than `readPaymentSums`. */
export const hasPaymentSums = async (db: Db, { id, owningAccountId }: SummedWorkspace): Promise<boolean> =>
  (await first(db, stored, { accountId: owningAccountId, workspaceId: id })) !== undefined

export type PaymentSum = { label: string; status: StateOf<'payment'>; count: number; amountMinor: Minor }

/** How many payments were made in each span, and their sums, by their status: exact at every moment, whatever part of them is stored. */
export const readPaymentSums = (
  db: Db,
  { id, owningAccountId }: SummedWorkspace,
  spans: readonly NamedSpan[],
): Promise<PaymentSum[]> => sums(db, { account_id: owningAccountId, workspace_id: id, list: spans })
