import { statement } from '../db/client.ts'
import { payouts } from '../rails/definitions.ts'
import type { Deps } from './payments/deps.ts'
import { untestedRepeats } from './rail-pauses/duplicate-checks.ts'

const replication = statement('start.replication', `select current_setting('synchronous_standby_names') as names`)

/** What an operator should know at the start, and what to do about it. */
export const warnAtStart = async ({
  config,
  db,
  logger,
  rails,
}: Pick<Deps, 'config' | 'db' | 'logger' | 'rails'>): Promise<void> => {
  for (const rail of await untestedRepeats(db, rails)) {
    const { repeat } = payouts[rail]
    if (repeat !== 'pays_again')
      logger.warn({ rail }, `${repeat.setting} has no effect yet: run npm run admin -- rails check --duplicate <your phone>`)
  }
  if (config.NODE_ENV !== 'production') return
  const [row] = await db.query<{ names: string }>(replication)
  if (row?.names === '')
    logger.warn(
      'synchronous_standby_names is empty: a failover may lose payments that were acknowledged. Name a standby (docs/failover.md)',
    )
}
