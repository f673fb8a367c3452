import type { Logger } from 'pino'
import type { Db } from './client.ts'
import { statement } from './statement.ts'

/** Server settings that the service does not override (`connection-settings.ts`), with their safe values. */
const settings: Readonly<Record<string, { isSafe: (setting: string) => boolean; warning: string }>> = {
  synchronous_standby_names: {
    isSafe: (setting) => setting !== '',
    warning: 'synchronous_standby_names is empty: a failover may lose acknowledged payments. Name a standby (docs/failover.md)',
  },
  synchronous_commit: {
    isSafe: (setting) => setting === 'on' || setting === 'remote_apply',
    warning:
      'synchronous_commit is neither on nor remote_apply: a crash or a failover may lose acknowledged payments. Set it to on (docs/failover.md)',
  },
  fsync: {
    isSafe: (setting) => setting === 'on',
    warning: 'fsync is off: a machine crash may corrupt the database. Set it to on',
  },
  full_page_writes: {
    isSafe: (setting) => setting === 'on',
    warning: 'full_page_writes is off: a machine crash may corrupt database pages. Set it to on',
  },
  session_replication_role: {
    isSafe: (setting) => setting === 'origin',
    warning:
      'session_replication_role is not origin: the triggers that protect the ledger do not run. Reset it for this role and database',
  },
  transaction_timeout: {
    isSafe: (setting) => setting === '0',
    warning:
      'transaction_timeout is set: it ends transactions of the service and their connections. Reset it for this role and database',
  },
}

const readSettings = statement('server.settings')`select name, setting from pg_settings where name = any($1::text[])`

export const warnOfUnsafeSettings = async (db: Db, logger: Logger): Promise<void> => {
  const rows = await db.query<{ name: string; setting: string }>(readSettings, [Object.keys(settings)])
  for (const { name, setting } of rows) {
    const known = settings[name]
    if (known?.isSafe(setting) === false) logger.warn({ setting: `${name} = ${setting}` }, known.warning)
  }
}
