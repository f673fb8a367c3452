import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database, Db } from './client.ts'
import { statement } from './statement.ts'

export type Reads = ReturnType<typeof createReads>

const position = statement('standby.position', 'record')`select pg_current_wal_lsn()::text as position`
const reached = statement('standby.reached')`select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached`

const tries = 4
const pauseMs = 5
const complaintEveryMs = 60_000

/**
 * The source of lists and exports, never of decisions: the standby if it has replayed all commits made before the request, or
 * else the primary. Every reader therefore sees all writes that any process has acknowledged.
 */
export const createReads = (
  primary: Database,
  standby: Database | null,
  logger: Logger,
  onRead?: (from: 'primary' | 'standby') => void,
) => {
  let complained = Number.NEGATIVE_INFINITY
  const isCurrent = async ({ query }: Database): Promise<boolean> => {
    const [at] = await primary.query<{ position: string }>(position)
    for (let count = 1; count <= tries; count += 1) {
      if (count > 1) await wait(pauseMs)
      const [row] = await query<{ reached: boolean }>(reached, [at?.position])
      if (row?.reached) return true
    }
    return false
  }
  const complain = (error: unknown): false => {
    const now = performance.now()
    if (now - complained > complaintEveryMs)
      logger.warn(
        { error: error instanceof Error ? error.name : 'unknown' },
        'the standby does not answer; reads use the primary',
      )
    complained = now
    return false
  }
  return {
    db: async (): Promise<Db & Pick<Database, 'search'>> => {
      if (!standby) return primary
      const isRead = await isCurrent(standby).catch(complain)
      onRead?.(isRead ? 'standby' : 'primary')
      return isRead ? standby : primary
    },
    close: async (): Promise<void> => standby?.close(),
  }
}
