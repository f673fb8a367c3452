import { eq } from 'drizzle-orm'
import { type Database, statement } from '../db/client.ts'
import { plainList, timeList } from '../db/lists.ts'
import { prepare } from '../db/prepare.ts'
import { bookingPoints } from '../db/tables/ledger.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import { idAhead, idBehind } from './booked-between.ts'
import { type BookingSpan, beginningSql } from './booking-spans.ts'
import { advanceSums, lateSql, movedSql, point, pointSql, settledSql } from './settled-transfers.ts'

/** A booking as its customer sees it. Transfers between our own accounts are none, nor is money under a hold. */
export const bookingColumns = `t.id, t.created_at as at, t.reference_type, t.reference_id,
  case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end as amount_minor`
export const isBooking = `t.kind in ('direct', 'post')`

/** Of a row with these columns. */
export const bookingType = (row: string): string =>
  `case ${row}.reference_type when 'payment' then case when ${row}.amount_minor < 0 then 'payment' else 'payment_return' end
    when 'topup' then 'topup' when 'deposit' then 'topup' else 'adjustment' end`

const begin = statement(
  'ledger.totals_begin',
  `insert into booking_points (name, through) values ('${point}', '${firstId}') on conflict (name) do nothing`,
)

const lock = prepare('ledger.totals_lock', { name: 'text' }, (orm, at) =>
  orm.select({ through: bookingPoints.through }).from(bookingPoints).where(eq(bookingPoints.name, at.name)).for('update'),
)

const unitsSql = (['hour', 'day', 'month'] as const)
  .flatMap((unit) => {
    const begins = beginningSql(unit, 'm.at')
    return [
      `('${unit}', ${begins}, '${firstId}'::uuid)`,
      ...(unit === 'hour' ? [] : [`('payee_${unit}', ${begins}, m.beneficiary_id)`]),
    ]
  })
  .join(', ')

/** `offset 0`: a payment is looked up for each row; joined, the plan for an unknown number of rows reads every payment. */
const advance = statement(
  'ledger.totals_advance',
  `with ${settledSql('bookings')},
     moved as (
       select ${bookingColumns}, t.customer_account_id as account_id, paid.workspace_id, paid.beneficiary_id
       from counted t left join lateral (
         select p.workspace_id, p.beneficiary_id from payments p where t.reference_type = 'payment' and p.id = t.reference_id offset 0) as paid on true
       where ${isBooking} and t.customer_account_id is not null),
     summed as (
       insert into booking_totals (account_id, unit, begins, workspace_id, type, beneficiary_id, entries, came_in_minor, went_out_minor)
       select m.account_id, u.unit, u.begins, coalesce(m.workspace_id, '${firstId}'), ${bookingType('m')}, u.beneficiary_id, count(*),
         coalesce(sum(m.amount_minor) filter (where m.amount_minor > 0), 0), coalesce(-sum(m.amount_minor) filter (where m.amount_minor < 0), 0)
       from moved m cross join lateral (values ${unitsSql}) as u(unit, begins, beneficiary_id)
       where u.beneficiary_id is not null group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
       on conflict (account_id, unit, begins, workspace_id, type, beneficiary_id) do update set entries = booking_totals.entries + excluded.entries,
         came_in_minor = booking_totals.came_in_minor + excluded.came_in_minor, went_out_minor = booking_totals.went_out_minor + excluded.went_out_minor)
   update booking_points p set ${movedSql}`,
)

export const advanceBookingTotals = (db: Database): Promise<void> => advanceSums(db, { begin, lock, advance })

/** A span, and the name of what it is added to. */
export type NamedSpan = BookingSpan & { label: string }
/** The columns of a list of spans. */
export const spanTypes = { label: 'text', unit: 'text', begins: 'timestamptz', ends: 'timestamptz' } as const

/** The first parameters of a statement of one account: the account, and the spans. */
export const spanValues = (accountId: Uuid, spans: readonly NamedSpan[]): unknown[] => [
  accountId,
  plainList(spans.map(({ label }) => label)),
  plainList(spans.map(({ unit }) => unit)),
  timeList(spans.map(({ begins }) => begins)),
  timeList(spans.map(({ ends }) => ends)),
]

/** Those of `spanValues`. */
export const spansOfValues = 'unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])'
export const spansSql = (spans: string): string => `spans as (select * from ${spans} as s(label, unit, begins, ends))`

/**
 * What was booked in spans, as `stored` sums and `loose` bookings: those that are not counted, and those of spans that are no whole unit, in which
 * the late ones are found by their ids. The two together are every booking of a span once. Bounds have the account with the id: with ids alone, the
 * plan may read their range in the primary key, with everybody's transfers.
 */
export const bookedSql = (account: string, spans: string): string => `
  ${pointSql('booking_points')},
  ${spansSql(spans)},
  stored as (
    select s.label, b.type, b.workspace_id, b.beneficiary_id, b.entries, b.came_in_minor, b.went_out_minor
    from spans s join booking_totals b on b.account_id = ${account} and b.unit = s.unit and b.begins >= s.begins and b.begins < s.ends),
  tail as materialized (
    select ${bookingColumns}, false as late from ledger_transfers t
    where t.customer_account_id = ${account} and (t.customer_account_id, t.id) > (${account}, (select through from point)) and ${isBooking}
    union all
    select ${bookingColumns}, true ${lateSql('bookings', account)} and ${isBooking}),
  loose as (
    select s.label, t.id, t.at, t.reference_type, t.reference_id, t.amount_minor
    from spans s join tail t on t.at >= s.begins and t.at < s.ends and (s.unit is not null or not t.late)
    union all
    select s.label, t.* from spans s cross join lateral (
      select ${bookingColumns} from ledger_transfers t
      where s.unit is null and t.customer_account_id = ${account} and ${isBooking}
        and (t.customer_account_id, t.id) <= (${account}, (select through from point))
        and (t.customer_account_id, t.id) > (${account}, ${idBehind(account, 's.begins')})
        and (t.customer_account_id, t.id) < (${account}, ${idAhead(account, 's.ends')})
        and t.created_at >= s.begins and t.created_at < s.ends) as t)`
