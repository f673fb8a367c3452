import { withStartClient } from './start-client.ts'

/** A program between us and Postgres that gives its connections to other clients between our transactions: usually PgBouncer. */
export type Pooler = { keepsStatements: boolean; statementTimeout: boolean }

const marker = 'payments_service_probe'

/**
 * Undefined for a direct connection to Postgres. A pooler gives each client a process id of its own, which differs from that of the
 * server's process. PgBouncer from 1.21 on, with `max_prepared_statements` above 0, keeps prepared statements under names of its own; an
 * older one (Debian 12 has 1.18) loses them, so statements go to it without names.
 */
export const detectPooler = (url: string): Promise<Pooler | undefined> =>
  withStartClient(url, async (client) => {
    const claimed = 'processID' in client ? client.processID : undefined
    const { rows } = await client.query<{ pid: number; timeout: string }>(
      `select pg_backend_pid() as pid, current_setting('statement_timeout') as timeout`,
    )
    if (rows[0]?.pid === claimed) return undefined
    const statements = await client
      .query<{ name: string }>({
        name: marker,
        text: `select name from pg_prepared_statements where statement like '%${marker}%'`,
      })
      .catch(() => ({ rows: [] }))
    return {
      keepsStatements: statements.rows.some(({ name }) => name.startsWith('PGBOUNCER_')),
      statementTimeout: rows[0]?.timeout !== '0',
    }
  })
