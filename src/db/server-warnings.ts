import type { Logger } from 'pino'
import type { Db } from './client.ts'
import { statement } from './statement.ts'

/** Settings that a client cannot set or that the operator must decide, each with a warning for unsafe values. */
const unsafe: Readonly<Record<string, readonly [isSafe: (setting: string) => boolean, warning: string]>> = {
  synchronous_standby_names: [
    (setting) => setting !== '',
    'synchronous_standby_names is empty: a failover may lose acknowledged payments. Name a standby (docs/failover.md)',
  ],
  synchronous_commit: [
    (setting) => setting !== 'off',
    'synchronous_commit is off: a database crash loses acknowledged payments. Set it to on',
  ],
  fsync: [(setting) => setting === 'on', 'fsync is off: a machine crash may corrupt the database. Set it to on'],
  full_page_writes: [
    (setting) => setting === 'on',
    'full_page_writes is off: a machine crash may corrupt database pages. Set it to on',
  ],
  session_replication_role: [
    (setting) => setting === 'origin',
    'session_replication_role is not origin: the triggers that protect the ledger do not run. Reset it for this role and database',
  ],
  transaction_timeout: [
    (setting) => setting === '0',
    'transaction_timeout is set: it ends transactions of the service and their connections. Reset it for this role and database',
  ],
}

const read = statement('server.settings')`select name, setting from pg_settings where name = any($1::text[])`

export const warnOfServer = async (db: Db, logger: Logger): Promise<void> => {
  for (const { name, setting } of await db.query<{ name: string; setting: string }>(read, [Object.keys(unsafe)])) {
    const [isSafe, warning] = unsafe[name] ?? []
    if (isSafe?.(setting) === false) logger.warn({ setting: `${name} = ${setting}` }, warning)
  }
}
