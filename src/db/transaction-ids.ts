import { withStartClient } from './start-client.ts'

const newest = `
  select greatest((select transaction from audit_log order by transaction desc limit 1),
    (select transaction from events order by transaction desc limit 1))::text as newest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`

/** As many as a busy second uses. */
const batch = 100_000n

/**
 * Events and audit rows store the id of their transaction, and readers and seals follow its order. In a database that was restored from a
 * dump into another server, rows may carry ids that this server has not reached yet; new rows would be ordered before them. This uses up
 * transaction ids until the server has caught up, and returns how many it used: none, unless there was a restore.
 */
export const catchUpTransactionIds = (url: string): Promise<bigint> =>
  withStartClient(url, async (client) => {
    for (let used = 0n; ; ) {
      const { rows } = await client.query<{ newest: string | null; next: string }>(newest)
      const behind = rows[0]?.newest ? BigInt(rows[0].newest) - BigInt(rows[0].next) + 1n : 0n
      if (behind <= 0n) return used
      const count = behind < batch ? behind : batch
      await client.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)
      used += count
    }
  })
