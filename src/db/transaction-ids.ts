import pg from 'pg'

const newest = `
  select greatest((select transaction from audit_log order by transaction desc limit 1),
    (select transaction from events order by transaction desc limit 1))::text as newest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`

/** A second's worth. */
const batch = 100_000n

/**
 * Events and audit rows remember the transaction they were written in, and readers and seals go by its order. Restored from a dump
 * into another server, rows may come from transactions that this server has not reached yet; what it writes next would stand before
 * them. This uses transaction ids up until it has caught up and returns how many those were: none, unless there was a restore.
 */
export const catchUpTransactionIds = async (url: string): Promise<bigint> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'payments-service-catch-up',
    connectionTimeoutMillis: 5_000,
  })
  // Lost between two statements: the statement says so.
  client.on('error', () => undefined)
  await client.connect()
  try {
    for (let used = 0n; ; ) {
      const { rows } = await client.query<{ newest: string | null; next: string }>(newest)
      const behind = rows[0]?.newest ? BigInt(rows[0].newest) - BigInt(rows[0].next) + 1n : 0n
      if (behind <= 0n) return used
      const count = behind < batch ? behind : batch
      await client.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)
      used += count
    }
  } finally {
    await client.end()
  }
}
