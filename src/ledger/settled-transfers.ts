import { type Database, first, inTx, type Statement } from '../db/client.ts'
import type { Prepared } from '../db/prepare.ts'
import { secondsAfter } from '../lib/clock.ts'
import { firstId, lastId, type Uuid } from '../lib/ids.ts'

/**
 * Sums are of transfers that are older than this. A transfer that commits later than younger ones was made minutes ago at most: a statement
 * ends after seconds, and the processes' clocks differ by minutes at most.
 */
const settledAfterSeconds = 1_800
const transfersAtOnce = 20_000
export const point = 'all'

/** The point where sums go on, as a statement begins with it. */
export const pointSql = (points: string): string =>
  `point as (select coalesce((select through from ${points} where name = '${point}'), '${firstId}') as through)`

/** The next transfers in the order of their ids, up to the first one that is too young. In the order of the key, so that an account's rows stand together. */
export const settledSql = `next as materialized (select * from ledger_transfers where id > $1 order by id limit ${transfersAtOnce}),
     counted as materialized (
       select * from next where id < coalesce((select id from next where created_at >= $2 order by id limit 1), '${lastId}'))`

/** Ends a statement that begins with `settledSql`: how it updates its point, `p`. */
export const movedSql = `through = coalesce((select id from counted order by id desc limit 1), p.through)
   where p.name = '${point}' returning (select count(*) from counted) = ${transfersAtOnce} as more`

type Sums = {
  begin: Statement
  lock: Prepared<{ name: string }, { through: Uuid }>
  advance: Statement
}

/** Counts what has settled since the last time, in short transactions: so that a reader reads about half an hour of transfers. */
export const advanceSums = async (db: Database, { begin, lock, advance }: Sums): Promise<void> => {
  for (let more = true; more; )
    more = await inTx(db, async (tx) => {
      await tx.query(begin)
      const counted = await first(tx, lock, { name: point })
      const [moved] = await tx.query<{ more: boolean }>(advance, [counted?.through, secondsAfter(tx.at, -settledAfterSeconds)])
      return moved?.more ?? false
    })
}
