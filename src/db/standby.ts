import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database, Db } from './client.ts'
import { statement } from './statement.ts'

export type Reads = ReturnType<typeof createReads>

const position = statement('standby.position', 'record')`select pg_current_wal_lsn()::text as position`
const reached = statement('standby.reached')`select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached`

const tries = 4
const pauseMs = 5
const warnEveryMs = 60_000

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
  let warnedAt = Number.NEGATIVE_INFINITY
  const hasReached = async ({ query }: Database, at: string): Promise<boolean> => {
    for (let count = 1; count <= tries; count += 1) {
      if (count > 1) await wait(pauseMs)
      const [row] = await query<{ reached: boolean }>(reached, [at])
      if (row?.reached) return true
    }
    return false
  }
  const warn = (error: unknown): false => {
    const now = performance.now()
    if (now - warnedAt <= warnEveryMs) return false
    warnedAt = now
    logger.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'the standby does not answer; reads use the primary')
    return false
  }
  return {
    db: async (): Promise<Db & Pick<Database, 'search'>> => {
      if (!standby) return primary
      // If the primary does not answer, the read itself fails on it.
      const [row] = await primary.query<{ position: string }>(position).catch(() => [])
      const isRead = row !== undefined && (await hasReached(standby, row.position).catch(warn))
      onRead?.(isRead ? 'standby' : 'primary')
      return isRead ? standby : primary
    },
    close: async (): Promise<void> => standby?.close(),
  }
}
