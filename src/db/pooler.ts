import { only } from '../lib/lists.ts'
import { withClient } from './start.ts'

/** A connection pooler in transaction mode. `differingSettings`: settings that differ from the required ones. */
export type Pooler = { keepsStatements: boolean; differingSettings: string[] }

const marker = 'payments_service_probe'

export type Server = { version: number; pooler: Pooler | undefined }

/**
 * Detects a pooler by the process id, because a pooler gives each client an id of its own. PgBouncer 1.21 and later supports
 * prepared statements if `max_prepared_statements` is above 0. For older versions (1.18 in Debian 12) statements are unnamed.
 */
export const probeServer = (url: string, settings: Readonly<Record<string, string>>): Promise<Server> =>
  withClient({ connectionString: url }, async (client) => {
    const claimed = 'processID' in client ? client.processID : undefined
    const { rows } = await client.query<{ pid: number; version: string; differingSettings: string[] }>(
      `select pg_backend_pid() as pid, current_setting('server_version_num') as version,
         array(select x.name from unnest($1::text[], $2::text[]) as x(name, value) join pg_settings s on lower(s.name) = x.name
           where s.setting <> x.value order by x.name) as "differingSettings"`,
      [Object.keys(settings), Object.values(settings)],
    )
    const { pid, differingSettings, ...server } = only(rows)
    const version = Number(server.version)
    if (pid === claimed) return { version, pooler: undefined }
    const statements = await client
      .query<{ name: string }>({
        name: marker,
        text: `select name from pg_prepared_statements where statement like '%${marker}%'`,
      })
      .catch(() => ({ rows: [] }))
    const keepsStatements = statements.rows.some(({ name }) => name.startsWith('PGBOUNCER_'))
    return { version, pooler: { keepsStatements, differingSettings } }
  })
