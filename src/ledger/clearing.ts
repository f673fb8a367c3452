import { type Database, type Db, inTx, statement } from '../db/client.ts'
import { insertOnce } from '../db/prepare-write.ts'
import { selectRow } from '../db/select-rows.ts'
import { clearingPoints } from '../db/tables/ledger.ts'
import { secondsAfter } from '../lib/clock.ts'
import { firstId, lastId } from '../lib/ids.ts'
import { only } from '../lib/lists.ts'
import type { Minor } from '../lib/money.ts'
import { booksOf, type Provider } from '../lib/rail-names.ts'

export type Clearing = { cameInMinor: Minor; wentOutMinor: Minor }

/** A transfer that commits after younger ones is at most minutes old, because queries time out and clocks differ by minutes. */
const settledAfterSeconds = 3_600
const transfersAtOnce = 20_000

const clearingAccounts = `(select id from ledger_accounts where code in ('rail_clearing', 'topup_clearing'))`

/** Subqueries look up each transfer's subject: a join, planned for an unknown number of transfers, would read every payment. */
const sumsSql = `
  select coalesce(sum(t.amount_minor) filter (where t.debit_account_id in ${clearingAccounts}), 0)::bigint as came_in,
    coalesce(sum(t.amount_minor) filter (where t.credit_account_id in ${clearingAccounts}), 0)::bigint as went_out
  from counted t
  where t.kind in ('direct', 'post') and (t.debit_account_id in ${clearingAccounts} or t.credit_account_id in ${clearingAccounts})
    and case t.reference_type when 'payment' then (select p.rail from payments p where p.id = t.reference_id)
      when 'topup' then (select u.method from topups u where u.id = t.reference_id)
      when 'deposit' then (select d.rail from deposits d where d.id = t.reference_id)
      when 'suspense' then (select s.rail from suspense_items s where s.id = t.reference_id) end = any($2::text[])`

const lock = selectRow('ledger.clearing_lock', clearingPoints, ['name'], { lock: 'update' })

/** Advances in the order of ids, up to the first transfer that is too recent. */
const advance = statement('ledger.clearing_advance')`
  with next as materialized (select * from ledger_transfers where id > $3 order by id limit ${transfersAtOnce}),
     counted as materialized (
       select * from next where id < coalesce((select id from next where created_at >= $4 order by id limit 1), '${lastId}')),
     summed as (${sumsSql})
   update clearing_points p set through = coalesce((select id from counted order by id desc limit 1), p.through),
     came_in_minor = p.came_in_minor + summed.came_in, went_out_minor = p.went_out_minor + summed.went_out
   from summed where p.name = $1
   returning (select count(*) from counted) = ${transfersAtOnce} as more`

/** Advances the point from which `readClearing` sums, so that a read sums only about an hour of transfers. */
export const advanceClearing = async (db: Database, name: Provider): Promise<void> => {
  for (let more = true; more; )
    more = await inTx(db, async (tx) => {
      await insertOnce(tx, clearingPoints, { name, through: firstId, cameInMinor: 0n, wentOutMinor: 0n }, clearingPoints.name)
      const point = await lock(tx, { name })
      const before = secondsAfter(tx.at, -settledAfterSeconds)
      const [moved] = await tx.query<{ more: boolean }>(advance, [name, booksOf(name), point?.through, before])
      return moved?.more ?? false
    })
}

const read = statement('ledger.clearing')`
  with point as (select through, came_in_minor, went_out_minor from clearing_points where name = $1),
     counted as (select * from ledger_transfers where id > coalesce((select through from point), '${firstId}')),
     since as (${sumsSql})
   select coalesce((select came_in_minor from point), 0) + since.came_in as "cameInMinor",
     coalesce((select went_out_minor from point), 0) + since.went_out as "wentOutMinor"
   from since`

export const readClearing = async (db: Db, name: Provider): Promise<Clearing> =>
  only(await db.query<Clearing>(read, [name, booksOf(name)]))
