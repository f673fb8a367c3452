import type { Logger } from 'pino'
import type { Db } from './client.ts'
import { statement } from './statement.ts'

const read = statement(
  'server.settings',
  `select name, setting from pg_settings where name in ('synchronous_standby_names', 'synchronous_commit', 'fsync', 'full_page_writes',
     'session_replication_role', 'transaction_timeout')`,
)

/** What a client may not set, or not for the operator, and what a value means that is not safe. */
const unsafe: Readonly<Record<string, { isSafe: (setting: string) => boolean; warning: string }>> = {
  synchronous_standby_names: {
    isSafe: (setting) => setting !== '',
    warning:
      'synchronous_standby_names is empty: a failover may lose payments that were acknowledged. Name a standby (docs/failover.md)',
  },
  synchronous_commit: {
    isSafe: (setting) => setting !== 'off',
    warning: 'synchronous_commit is off: a crash of the database loses payments that were acknowledged. Set it to on',
  },
  fsync: {
    isSafe: (setting) => setting === 'on',
    warning: 'fsync is off: a crash of the machine may destroy the database. Set it to on',
  },
  full_page_writes: {
    isSafe: (setting) => setting === 'on',
    warning: 'full_page_writes is off: a crash of the machine may destroy pages of the database. Set it to on',
  },
  session_replication_role: {
    isSafe: (setting) => setting === 'origin',
    warning:
      'session_replication_role is not origin: the triggers that keep the ledger do not run. Reset it for this role and database',
  },
  transaction_timeout: {
    isSafe: (setting) => setting === '0',
    warning:
      'transaction_timeout is set: it ends transactions of the service, and connections with them. Reset it for this role and database',
  },
}

/** For an operator, of what the service needs and cannot set by itself. */
export const warnOfServer = async (db: Db, logger: Logger): Promise<void> => {
  for (const { name, setting } of await db.query<{ name: string; setting: string }>(read)) {
    const known = unsafe[name]
    if (known && !known.isSafe(setting)) logger.warn({ setting: `${name} = ${setting}` }, known.warning)
  }
}
