import { type Database, inTx, statement, type Tx } from '../db/client.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import {
  balanceSql,
  bookingColumns,
  bookingType,
  countedSql,
  firstTime,
  firstTimeSql,
  hourOf,
  isBooking,
  isBookingType,
  paymentOfBookingSql,
} from './hours.ts'
import { createdBetweenSql } from './id-bounds.ts'

/** Time between an hour's end and its counting, because a process whose clock is behind may still write into the hour. */
const marginMinutes = 15
/** Maximum transfers counted in one transaction, unless a single hour has more. */
const transfersAtOnce = 100_000

const startCounting = statement('ledger.count_begin')`
  with target as (select ${hourOf(`$1::timestamptz - interval '${marginMinutes} minutes'`)} as hour)
   insert into counted_hours as c (name, since, through) select 'all', hour, hour from target
   on conflict (name) do update set since = least(c.since, excluded.through), through = least(c.through, excluded.through)`

/** The uncounted hours after the counted ones, else the newest before them. `offset` bounds the number of transfers. */
const findNextRange = statement('ledger.count_next')`
  with target as (select ${hourOf(`$1::timestamptz - interval '${marginMinutes} minutes'`)} as hour)
   select case when through < target.hour then through
       else coalesce((select case when t.created_at < since then least(${hourOf('t.created_at')}, since - interval '1 hour') end
         from ledger_transfers t where t.id < first_id_at(since) order by t.id desc offset ${transfersAtOnce} limit 1), $2) end as begins,
     case when through < target.hour then least(target.hour, greatest(through + interval '1 hour', coalesce(
         (select ${hourOf('t.created_at')} from ledger_transfers t where t.id > first_id_at(through) order by t.id offset ${transfersAtOnce} limit 1), target.hour)))
       else since end as ends
   from counted_hours cross join target where name = 'all' and (through < target.hour or since > $2)`

/** Hourly sums of bookings and of requested payments. */
export const hourSumsSql = (begins: string, ends: string): string => `
  moved as (
    select ${bookingColumns}, t.customer_account_id as account_id, paid.workspace_id, paid.beneficiary_id
    from ledger_transfers t left join lateral ${paymentOfBookingSql('t')} as paid on true
    where ${isBooking} and t.customer_account_id is not null and ${createdBetweenSql('ledger_transfers', begins, ends)}),
  sums as (
    select account_id, coalesce(workspace_id, '${firstId}') as workspace_id, coalesce(beneficiary_id, '${firstId}') as beneficiary_id, ${hourOf('m.at')} as hour,
      count(*) as entries, coalesce(sum(amount_minor) filter (where amount_minor > 0), 0)::bigint as came_in_minor,
      coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0)::bigint as went_out_minor, ${bookingType('m')} as type
    from moved m group by 1, 2, 3, 4, 8
    union all
    select t.account_id, t.workspace_id, '${firstId}', ${hourOf('t.created_at')}, count(*), 0, sum(t.amount_minor)::bigint, 'made'
    from payments t where ${createdBetweenSql('payments', begins, ends)} group by 1, 2, 4),
  net as (select account_id, hour, sum(came_in_minor - went_out_minor)::bigint as minor from sums s where ${isBookingType('s')} group by 1, 2)`

const countRange = statement('ledger.count_hours')`
  with ${countedSql}, ${hourSumsSql('$1::timestamptz', '$2::timestamptz')},
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
      await tx.query(startCounting, [now])
      const [range] = await tx.query<{ begins: Date; ends: Date }>(findNextRange, [now, firstTime])
      if (!range) return false
      await tx.query(countRange, [range.begins, range.ends])
      return true
    })
}

const moveTotals = statement('ledger.move_made')`
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
export const moveRequestedTotals = async (tx: Tx, { workspaceId, holder, from }: BalanceMove): Promise<void> =>
  void (await tx.query(moveTotals, [workspaceId, holder, from]))

/** Time of the first transfer while older hours are uncounted, else the end of the counted hours; null for an empty ledger. */
export const uncountedSinceSql = `
   select case when c.since <= ${firstTimeSql} then c.through else (select created_at from ledger_transfers order by id limit 1) end as oldest
   from (select 1) as one left join counted_hours c on c.name = 'all'`
