import type { Logger } from 'pino'
import type { Db } from './client.ts'
import { statement } from './statement.ts'

const names = statement('replication.synchronous', `select current_setting('synchronous_standby_names') as names`)

/** Without a synchronous standby a failover loses what the primary had acknowledged and not yet sent on. */
export const warnWithoutStandby = async (db: Db, logger: Logger): Promise<void> => {
  const [row] = await db.query<{ names: string }>(names)
  if (row?.names === '')
    logger.warn(
      'synchronous_standby_names is empty: a failover may lose payments that were acknowledged. Name a standby (docs/failover.md)',
    )
}
