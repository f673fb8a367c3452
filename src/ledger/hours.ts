import { namesSql } from '../db/tables/columns.ts'
import { bookingTypes } from '../db/tables/ledger.ts'
import { firstId, lastId } from '../lib/ids.ts'
import { transferIds } from './id-bounds.ts'

// `hour_totals` has the sums of bookings by hour, account, workspace, beneficiary and type, for the hours that are counted. A
// period is summed by the totals of its whole hours, and row by row at its edges.

/** Positive for money that comes into the customer's account. */
export const signedAmount = 'case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end'

/** A booking from the customer's perspective. Excludes transfers between system accounts, and holds. */
export const bookingColumns = `t.id, t.created_at as at, t.reference_type, t.reference_id, ${signedAmount} as amount_minor`
export const isBooking = `t.kind in ('direct', 'post')`
export const isBookingType = (row: string): string => `${row}.type in ${namesSql(bookingTypes)}`

export const bookingType = (row: string): string =>
  `case ${row}.reference_type when 'payment' then case when ${row}.amount_minor < 0 then 'payment' else 'payment_return' end
    when 'topup' then 'topup' when 'deposit' then 'topup' when 'fee' then 'fee' else 'adjustment' end`

/** Workspace and beneficiary of a booking's payment. A fee has no beneficiary. `offset 0` forces a lookup for each row. */
export const paymentOfBookingSql = (row: string): string => `(
  select p.workspace_id, case ${row}.reference_type when 'payment' then p.beneficiary_id end as beneficiary_id
  from payments p where ${row}.reference_type in ('payment', 'fee') and p.id = ${row}.reference_id offset 0)`

export const hourOf = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`
const hourAtOrAfter = (time: string): string => hourOf(`${time} + interval '1 hour' - interval '1 microsecond'`)

/** Before and after all bookings. */
export const firstTime = new Date(Date.UTC(2000, 0, 1))
export const lastTime = new Date(Date.UTC(9000, 0, 1))
export const firstTimeSql = `'${firstTime.toISOString()}'::timestamptz`
const lastTimeSql = `'${lastTime.toISOString()}'::timestamptz`

export const countedSql = `counted as (
  select coalesce(max(since), ${firstTimeSql}) as since, coalesce(max(through), ${firstTimeSql}) as through from counted_hours)`

/** Number of the local day of a time, from 1; null before the first day. `starts`: the start of each day. */
export const dayNumber = (time: string, starts: string): string => `nullif(width_bucket(${time}, ${starts}::timestamptz[]), 0)`

const splitHoursSql = (starts: string): string => `(
  select hour from whole cross join generate_series(greatest(first, ${hourOf(`(${starts}::timestamptz[])[1]`)}), last - interval '1 hour', interval '1 hour') as hour
  where width_bucket(hour, ${starts}::timestamptz[]) <> width_bucket(hour + interval '1 hour' - interval '1 microsecond', ${starts}::timestamptz[]))`

/** `whole`: hours with stored totals. `edges`: ranges summed row by row, including the hours in which one of `starts` falls. */
export const periodSql = (begins: string, ends: string, starts?: string): string => `${countedSql},
  whole as (
    select * from (select greatest(${hourAtOrAfter(begins)}, since) as first, least(${hourOf(ends)}, through) as last from counted) as c where first < last),
  split as ${starts ? splitHoursSql(starts) : '(select null::timestamptz as hour where false)'},
  edges as (
    select ${begins} as begins, coalesce((select first from whole), ${ends}) as ends
    union all select last, ${ends} from whole
    union all select hour, hour + interval '1 hour' from split)`

/** The stored totals of the whole hours of `periodSql`. */
export const hourTotalsSql = (account: string): string => `whole cross join lateral (
    select * from hour_totals where account_id = ${account} and hour >= first and hour < last and hour not in (select hour from split) offset 0) as h`

/**
 * An account's bookings between two times. Only row bounds name the account: bounds on ids alone may read all transfers, and an
 * equality the account's whole index.
 */
export const bookingsSql = (account: string, begins: string, ends: string): string => `ledger_transfers t
  where ${isBooking} and t.created_at >= ${begins} and t.created_at < ${ends}
    and (t.customer_account_id, t.id) > (${account}, ${begins === firstTimeSql ? `'${firstId}'` : transferIds.lowerBound(account, begins)})
    and (t.customer_account_id, t.id) < (${account}, ${ends === lastTimeSql ? `'${lastId}'` : transferIds.upperBound(account, ends)})`

const netSql = (account: string, begins: string, ends: string): string =>
  `coalesce((select sum(${signedAmount})
     from ${bookingsSql(account, begins, ends)}), 0)`

/** Time of an account's first or last transfer. */
const edgeTimeSql = (account: string, order: 'asc' | 'desc'): string => `(
  select created_at from ledger_transfers where customer_account_id = any(array[${account}]) order by customer_account_id ${order}, id ${order} limit 1)`

/**
 * Posted balance of an account before a time. Starts at the opening balance of the next counted hour that has a booking (or at the
 * current balance), and subtracts the bookings in between. If the earlier bookings are fewer, sums those. Needs `countedSql`.
 */
export const balanceSql = (account: string, at: string): string => `(
  select case when (${at} < next.since or next.hour >= next.through)
      and ${at} - ${edgeTimeSql(account, 'asc')} < ${edgeTimeSql(account, 'desc')} - ${at} then ${netSql(account, firstTimeSql, at)}
    when next.hour >= next.through then present.minor - ${netSql(account, at, lastTimeSql)}
    else coalesce(
      (select h.came_in_minor from hour_totals h
       where h.account_id = ${account} and h.hour >= next.hour and h.hour < next.through and h.type = 'opening' order by h.hour limit 1),
      present.minor - ${netSql(account, 'next.through', lastTimeSql)}) - ${netSql(account, at, 'next.hour')} end
  from (select greatest(${hourAtOrAfter(at)}, since) as hour, since, through from counted) as next
    cross join (select posted_credits_minor - posted_debits_minor as minor from ledger_accounts where id = ${account}) as present)`
