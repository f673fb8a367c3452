import { type Database, first, inTx, type Statement, statement } from '../db/client.ts'
import type { Prepared } from '../db/prepare.ts'
import type { TransferSums } from '../db/tables/ledger.ts'
import { firstId, type Uuid } from '../lib/ids.ts'

/**
 * How far the horizon stays behind the present. A transfer whose id is older than 15 seconds when it is inserted is named in `late_transfers` by a
 * trigger (0013_note_late_transfers_by_function.sql); the other 15 are for a database whose own clock is set back.
 */
const behindSeconds = 30
const transfersAtOnce = 20_000
export const point = 'all'

/** The point where sums go on, as a statement begins with it. */
export const pointSql = (points: string): string =>
  `point as (select coalesce((select through from ${points} where name = '${point}'), '${firstId}') as through)`

const allEnded = 'h.next_transaction <= events_settled_before()'

/**
 * Where every transaction that had an id before this one chose `next` has ended, `next` becomes the horizon: a later one inserts no smaller id
 * that is not named late. A transaction id that this server has not reached is of a dump.
 */
const settle = statement(
  'ledger.settle',
  `insert into transfer_horizons as h (name, through, next, next_transaction)
   values ('${point}', '${firstId}', first_id_at(statement_timestamp() - interval '${behindSeconds} seconds'), pg_current_xact_id())
   on conflict (name) do update set through = case when ${allEnded} then greatest(h.through, h.next) else h.through end,
     next = excluded.next, next_transaction = excluded.next_transaction
   where ${allEnded} or h.next_transaction > excluded.next_transaction`,
)

/** Transfers `t` of an account that are behind the point of these sums and not counted. */
export const lateSql = (sums: TransferSums, account: string): string =>
  `from late_transfers l cross join lateral (select * from ledger_transfers where id = l.transfer_id offset 0) as t
   where l.sums = '${sums}' and l.account_id = ${account}`

/**
 * The next transfers in the order of their ids, up to the horizon, and the late ones, which are counted with this. In the order of the key, so that
 * an account's rows stand together.
 */
export const settledSql = (sums: TransferSums): string => `next as materialized (
       select * from ledger_transfers where id > $1 and id <= (select through from transfer_horizons where name = '${point}') order by id limit ${transfersAtOnce}),
     late as (delete from late_transfers where sums = '${sums}' returning transfer_id),
     counted as materialized (
       select * from next
       union all
       select t.* from late cross join lateral (select * from ledger_transfers where id = late.transfer_id offset 0) as t)`

/** Ends a statement that begins with `settledSql`: how it updates its point, `p`. */
export const movedSql = `through = coalesce((select id from next order by id desc limit 1), p.through)
   where p.name = '${point}' returning (select count(*) from next) = ${transfersAtOnce} as more`

type Sums = {
  begin: Statement
  lock: Prepared<{ name: string }, { through: Uuid }>
  advance: Statement
}

/**
 * Counts what has settled since the last time, in short transactions: so that a reader reads about a minute of transfers. The horizon moves to the
 * one that was chosen before, and at once to a new one where no transaction is under way.
 */
export const advanceSums = async (db: Database, { begin, lock, advance }: Sums): Promise<void> => {
  await db.query(settle)
  await db.query(settle)
  for (let more = true; more; )
    more = await inTx(db, async (tx) => {
      await tx.query(begin)
      const counted = await first(tx, lock, { name: point })
      const [moved] = await tx.query<{ more: boolean }>(advance, [counted?.through])
      return moved?.more ?? false
    })
}
