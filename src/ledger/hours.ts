import { type Database, inTx, statement, type Tx } from '../db/client.ts'
import { idSlack } from '../db/list-queries.ts'
import { namesSql } from '../db/tables/columns.ts'
import { bookingTypes } from '../db/tables/ledger.ts'
import { firstId, lastId, type Uuid } from '../lib/ids.ts'

// Like `createdBetween` in db/list-queries.ts, but as raw SQL and with rows created at the first time. A null time sets no bound.

const boundsOf = (table: string, ownedBy?: string) => {
  const nearest = (owner: string, outside: string, beyond: string, order: 'asc' | 'desc') => `(
  select case when near.created_at ${outside} then near.id end from ${table} near
  where ${ownedBy ? `near.${ownedBy} = any(array[${owner}]::uuid[]) and ` : ''}near.id ${beyond}
  order by ${ownedBy ? `near.${ownedBy} ${order}, ` : ''}near.id ${order} limit 1)`
  return {
    /** An id below those of all the owner's rows created at a time or later. */
    idBehind: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `< ${time}`, `< first_id_at(${time} - ${idSlack})`, 'desc')}, '${firstId}')`,
    /** An id above those of all the owner's rows created before a time. */
    idAhead: (owner: string, time: string): string =>
      `coalesce(${nearest(owner, `>= ${time}`, `>= first_id_at(${time} + ${idSlack})`, 'asc')}, '${lastId}')`,
  }
}

export const { idBehind, idAhead } = boundsOf('ledger_transfers', 'customer_account_id')
export const inWorkspace = boundsOf('payments', 'workspace_id')

export const amongAll = (table: 'ledger_transfers' | 'payments', begins: string, ends: string): string => {
  const bounds = boundsOf(table)
  return `t.created_at >= ${begins} and t.created_at < ${ends}
    and t.id > ${bounds.idBehind('', begins)} and t.id < ${bounds.idAhead('', ends)}`
}

/** A booking from the customer's perspective. Excludes transfers between system accounts, and holds. */
export const bookingColumns = `t.id, t.created_at as at, t.reference_type, t.reference_id,
  case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end as amount_minor`
export const isBooking = `t.kind in ('direct', 'post')`
export const isBookingType = (row: string): string => `${row}.type in ${namesSql(bookingTypes)}`

export const bookingType = (row: string): string =>
  `case ${row}.reference_type when 'payment' then case when ${row}.amount_minor < 0 then 'payment' else 'payment_return' end
    when 'topup' then 'topup' when 'deposit' then 'topup' when 'fee' then 'fee' else 'adjustment' end`

export const hourOf = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`
const hourFrom = (time: string): string => hourOf(`${time} + interval '1 hour' - interval '1 microsecond'`)

export const ever = new Date(Date.UTC(2000, 0, 1))
export const never = new Date(Date.UTC(9000, 0, 1))
const [everSql, neverSql] = [ever, never].map((at) => `'${at.toISOString()}'::timestamptz`) as [string, string]

export const countedSql = `counted as (
  select coalesce(max(since), ${everSql}) as since, coalesce(max(through), ${everSql}) as through from counted_hours)`

/** Number of the local day of a time, from 1; null before the first day. `starts`: the start of each day. */
export const dayNumber = (time: string, starts: string): string => `nullif(width_bucket(${time}, ${starts}::timestamptz[]), 0)`

const splitSql = (starts: string): string => `(
  select hour from whole cross join generate_series(greatest(first, ${hourOf(`(${starts}::timestamptz[])[1]`)}), last - interval '1 hour', interval '1 hour') as hour
  where width_bucket(hour, ${starts}::timestamptz[]) <> width_bucket(hour + interval '1 hour' - interval '1 microsecond', ${starts}::timestamptz[]))`

/** `whole`: hours with stored totals. `edges`: ranges summed row by row, including the hours in which one of `starts` falls. */
export const periodSql = (begins: string, ends: string, starts?: string): string => `${countedSql},
  whole as (
    select * from (select greatest(${hourFrom(begins)}, since) as first, least(${hourOf(ends)}, through) as last from counted) as c where first < last),
  split as ${starts ? splitSql(starts) : '(select null::timestamptz as hour where false)'},
  edges as (
    select ${begins} as begins, coalesce((select first from whole), ${ends}) as ends
    union all select last, ${ends} from whole
    union all select hour, hour + interval '1 hour' from split)`

export const storedSql = (account: string): string => `whole cross join lateral (
    select * from hour_totals where account_id = ${account} and hour >= first and hour < last and hour not in (select hour from split) offset 0) as h`

/** Only row bounds name the account: bounds on ids alone may read all transfers, and an equality the account's whole index. */
export const bookedSql = (account: string, begins: string, ends: string): string => `ledger_transfers t
  where ${isBooking} and t.created_at >= ${begins} and t.created_at < ${ends}
    and (t.customer_account_id, t.id) > (${account}, ${begins === everSql ? `'${firstId}'` : idBehind(account, begins)})
    and (t.customer_account_id, t.id) < (${account}, ${ends === neverSql ? `'${lastId}'` : idAhead(account, ends)})`

const netSql = (account: string, begins: string, ends: string): string =>
  `coalesce((select sum(case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end)
     from ${bookedSql(account, begins, ends)}), 0)`

const endSql = (account: string, order: 'asc' | 'desc'): string => `(
  select created_at from ledger_transfers where customer_account_id = any(array[${account}]) order by customer_account_id ${order}, id ${order} limit 1)`

/**
 * Posted balance of an account before a time. Subtracts bookings from the opening balance of the next counted hour with a
 * booking, or from the current balance. For an uncounted time, sums all earlier bookings if fewer. Needs `countedSql`.
 */
export const balanceSql = (account: string, at: string): string => `(
  select case when (${at} < next.since or next.hour >= next.through)
      and ${at} - ${endSql(account, 'asc')} < ${endSql(account, 'desc')} - ${at} then ${netSql(account, everSql, at)}
    when next.hour >= next.through then present.minor - ${netSql(account, at, neverSql)}
    else coalesce(
      (select h.came_in_minor from hour_totals h
       where h.account_id = ${account} and h.hour >= next.hour and h.hour < next.through and h.type = 'opening' order by h.hour limit 1),
      present.minor - ${netSql(account, 'next.through', neverSql)}) - ${netSql(account, at, 'next.hour')} end
  from (select greatest(${hourFrom(at)}, since) as hour, since, through from counted) as next
    cross join (select posted_credits_minor - posted_debits_minor as minor from ledger_accounts where id = ${account}) as present)`

/** Time between an hour's end and its counting, because a process whose clock is behind may still write into the hour. */
const marginMinutes = 15
/** Maximum transfers counted in one transaction, unless a single hour has more. */
const transfersAtOnce = 100_000

const begin = statement('ledger.count_begin')`
  with target as (select ${hourOf(`$1::timestamptz - interval '${marginMinutes} minutes'`)} as hour)
   insert into counted_hours as c (name, since, through) select 'all', hour, hour from target
   on conflict (name) do update set since = least(c.since, excluded.through), through = least(c.through, excluded.through)`

/** The uncounted hours after the counted ones, else the newest before them. `offset` bounds the number of transfers. */
const next = statement('ledger.count_next')`
  with target as (select ${hourOf(`$1::timestamptz - interval '${marginMinutes} minutes'`)} as hour)
   select case when through < target.hour then through
       else coalesce((select case when t.created_at < since then least(${hourOf('t.created_at')}, since - interval '1 hour') end
         from ledger_transfers t where t.id < first_id_at(since) order by t.id desc offset ${transfersAtOnce} limit 1), $2) end as begins,
     case when through < target.hour then least(target.hour, greatest(through + interval '1 hour', coalesce(
         (select ${hourOf('t.created_at')} from ledger_transfers t where t.id > first_id_at(through) order by t.id offset ${transfersAtOnce} limit 1), target.hour)))
       else since end as ends
   from counted_hours cross join target where name = 'all' and (through < target.hour or since > $2)`

/** Workspace and beneficiary of a booking's payment. A fee has no beneficiary. `offset 0` forces a lookup for each row. */
export const paidSql = (row: string): string => `(
  select p.workspace_id, case ${row}.reference_type when 'payment' then p.beneficiary_id end as beneficiary_id
  from payments p where ${row}.reference_type in ('payment', 'fee') and p.id = ${row}.reference_id offset 0)`

/** Hourly sums of bookings and of requested payments. */
export const sumsSql = (begins: string, ends: string): string => `
  moved as (
    select ${bookingColumns}, t.customer_account_id as account_id, paid.workspace_id, paid.beneficiary_id
    from ledger_transfers t left join lateral ${paidSql('t')} as paid on true
    where ${isBooking} and t.customer_account_id is not null and ${amongAll('ledger_transfers', begins, ends)}),
  sums as (
    select account_id, coalesce(workspace_id, '${firstId}') as workspace_id, coalesce(beneficiary_id, '${firstId}') as beneficiary_id, ${hourOf('m.at')} as hour,
      count(*) as entries, coalesce(sum(amount_minor) filter (where amount_minor > 0), 0)::bigint as came_in_minor,
      coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0)::bigint as went_out_minor, ${bookingType('m')} as type
    from moved m group by 1, 2, 3, 4, 8
    union all
    select t.account_id, t.workspace_id, '${firstId}', ${hourOf('t.created_at')}, count(*), 0, sum(t.amount_minor)::bigint, 'made'
    from payments t where ${amongAll('payments', begins, ends)} group by 1, 2, 4),
  net as (select account_id, hour, sum(came_in_minor - went_out_minor)::bigint as minor from sums s where ${isBookingType('s')} group by 1, 2)`

const count = statement('ledger.count_hours')`
  with ${countedSql}, ${sumsSql('$1::timestamptz', '$2::timestamptz')},
     closings as materialized (
       select account_id, ${balanceSql('a.account_id', '$2::timestamptz')} as minor from (select distinct account_id from net) as a),
     openings as (
       select n.account_id, n.hour, c.minor - sum(n.minor) over (partition by n.account_id order by n.hour desc) as minor
       from net n join closings c using (account_id)),
     written as (
   insert into hour_totals (account_id, workspace_id, beneficiary_id, hour, entries, came_in_minor, went_out_minor, type)
   select * from (
     select * from sums union all select account_id, '${firstId}', '${firstId}', hour, 1, minor::bigint, 0, 'opening' from openings) as s
   order by account_id, hour, workspace_id, type, beneficiary_id
   on conflict (account_id, hour, workspace_id, type, beneficiary_id) do update
     set entries = excluded.entries, came_in_minor = excluded.came_in_minor, went_out_minor = excluded.went_out_minor)
   update counted_hours set since = least(since, $1::timestamptz), through = greatest(through, $2::timestamptz) where name = 'all'`

/** Counts ended hours, then older ones, newest first. If the clock was set back, hours after that time are counted again. */
export const countHours = async (db: Database, now: Date): Promise<void> => {
  for (let more = true; more; )
    more = await inTx(db, async (tx) => {
      await tx.query(begin, [now])
      const [range] = await tx.query<{ begins: Date; ends: Date }>(next, [now, ever])
      if (!range) return false
      await tx.query(count, [range.begins, range.ends])
      return true
    })
}

const moveMadeRows = statement('ledger.move_made')`
  with moved as (
     select h.hour, count(*) as entries, sum(p.amount_minor)::bigint as minor from payments p join hour_totals h on h.account_id = p.account_id
       and h.workspace_id = p.workspace_id and h.type = 'made' and h.hour = ${hourOf('p.created_at')}
     where p.workspace_id = $1 and p.account_id = $3 and p.status = 'scheduled' group by 1),
   added as (
     insert into hour_totals (account_id, workspace_id, beneficiary_id, hour, entries, came_in_minor, went_out_minor, type)
     select $2, $1, '${firstId}', hour, entries, 0, minor, 'made' from moved),
   emptied as (
     delete from hour_totals h using moved m
     where h.account_id = $3 and h.workspace_id = $1 and h.type = 'made' and h.hour = m.hour and h.entries = m.entries)
   update hour_totals h set entries = h.entries - m.entries, went_out_minor = h.went_out_minor - m.minor from moved m
   where h.account_id = $3 and h.workspace_id = $1 and h.type = 'made' and h.hour = m.hour and h.entries > m.entries`

export type BalanceMove = { workspaceId: Uuid; holder: Uuid; from: Uuid }

/** Moves hourly totals of scheduled payments to another account. Runs before the payments move, to find them by account. */
export const moveMade = async (tx: Tx, { workspaceId, holder, from }: BalanceMove): Promise<void> =>
  void (await tx.query(moveMadeRows, [workspaceId, holder, from]))

/** Time of the first transfer while older hours are uncounted, else the end of the counted hours; null for an empty ledger. */
export const uncountedSince = `
   select case when c.since <= ${everSql} then c.through else (select created_at from ledger_transfers order by id limit 1) end as oldest
   from (select 1) as one left join counted_hours c on c.name = 'all'`
