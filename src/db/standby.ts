import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database, Db } from './client.ts'
import { statement } from './statement.ts'

/** Where lists and exports are read from. Never for a decision: what a standby returns may be out of date. */
export type Reads = { db: () => Promise<Db & Pick<Database, 'search'>>; close: () => Promise<void> }

const position = statement('standby.position', 'select pg_current_wal_lsn()::text as position', 'record')
const reached = statement('standby.reached', 'select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached')

const tries = 4
const pauseMs = 5
const complaintEveryMs = 60_000

/**
 * The standby, if it has replayed everything that was committed when the request arrived; else the primary, and also where the standby does not
 * answer. So no reader misses a write that was acknowledged before the read began, by any caller and in any process.
 */
export const createReads = (
  primary: Database,
  standby: Database | null,
  logger: Logger,
  onRead: (from: 'primary' | 'standby') => void = () => undefined,
): Reads => {
  if (!standby) return { db: async () => primary, close: async () => undefined }
  let complained = Number.NEGATIVE_INFINITY
  const isCurrent = async (): Promise<boolean> => {
    const [at] = await primary.query<{ position: string }>(position)
    for (let count = 1; ; count += 1) {
      const [row] = await standby.query<{ reached: boolean }>(reached, [at?.position])
      if (row?.reached || count === tries) return row?.reached ?? false
      await wait(pauseMs)
    }
  }
  const db = async () => {
    try {
      const from = (await isCurrent()) ? 'standby' : 'primary'
      onRead(from)
      return from === 'standby' ? standby : primary
    } catch (error) {
      const now = performance.now()
      if (now - complained > complaintEveryMs)
        logger.warn(
          { error: error instanceof Error ? error.name : 'unknown' },
          'the standby does not answer: the primary is read',
        )
      complained = now
      onRead('primary')
      return primary
    }
  }
  return { db, close: standby.close }
}
