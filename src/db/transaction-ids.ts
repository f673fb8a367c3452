import type { Db } from './client.ts'

const newest = `
  select greatest((select transaction from audit_log order by transaction desc limit 1),
    (select transaction from events order by transaction desc limit 1))::text as newest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`

/** A second's worth: far below the statement's time-out. */
const batch = 100_000

/**
 * Events and audit rows remember the transaction they were written in, and readers and seals go by its order. Restored from a dump
 * into another server, rows may come from transactions that this server has not reached yet; what it writes next would stand before
 * them. This uses transaction ids up until it has caught up (some 100,000 a second) and returns how many that were.
 */
export const catchUpTransactionIds = async (db: Db): Promise<bigint> => {
  let used = 0n
  for (;;) {
    const [row] = await db.query<{ newest: string | null; next: string }>(newest)
    const behind = row?.newest ? BigInt(row.newest) - BigInt(row.next) + 1n : 0n
    if (behind <= 0n) return used
    const count = behind < BigInt(batch) ? behind : BigInt(batch)
    await db.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)
    used += count
  }
}
