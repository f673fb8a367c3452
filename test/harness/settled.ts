import type { Database, Db } from '../../src/db/client.ts'
import type { Uuid } from '../../src/lib/ids.ts'

/** The horizon of transfers, as if all up to this id were settled, however young they are. */
export const settleThrough = (db: Db, id: Uuid) =>
  db.query(
    `insert into transfer_horizons (name, through, next, next_transaction) values ('all', $1, $1, '3')
     on conflict (name) do update set through = excluded.through, next = excluded.next, next_transaction = excluded.next_transaction`,
    [id],
  )

/** While another transaction has written and not ended. */
export const whileUnderWay = async (db: Database, work: () => Promise<void>): Promise<void> => {
  const client = await db.pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    await work()
  } finally {
    await client.query('rollback')
    client.release()
  }
}
