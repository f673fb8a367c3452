import pg from 'pg'
import { connectionConfig } from './connection-settings.ts'

/** Runs work on a separate connection, for example before the pool exists. A plain URL gets the settings for such work. */
export const withClient = async <T>(address: string | pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const config = typeof address === 'string' ? connectionConfig(address) : address
  const client = new pg.Client({ application_name: 'payments-service-start', connectionTimeoutMillis: 5_000, ...config })
  // Without this listener, a broken connection would crash the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const newestIds = `
  select greatest((select transaction from audit_log order by transaction desc limit 1),
    (select transaction from events order by transaction desc limit 1))::text as newest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`

/** Number of transaction ids that a busy second uses. */
const idsAtOnce = 100_000n

/**
 * Readers and seals rely on the order of transaction ids. After a dump is restored to another server, rows may have ids ahead of
 * the server's, so this function uses ids up until the server has caught up. Returns how many it used.
 */
export const catchUpTransactionIds = (url: string): Promise<bigint> =>
  withClient(url, async (client) => {
    for (let used = 0n; ; ) {
      const { rows } = await client.query<{ newest: string | null; next: string }>(newestIds)
      const behind = rows[0]?.newest ? BigInt(rows[0].newest) - BigInt(rows[0].next) + 1n : 0n
      if (behind <= 0n) return used
      const count = behind < idsAtOnce ? behind : idsAtOnce
      await client.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)
      used += count
    }
  })
