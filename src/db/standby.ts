import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database, Db } from './client.ts'
import { joinTurn } from './join-turn.ts'
import { statement } from './statement.ts'

/** Where lists and exports are read from. Never for a decision: what a standby returns may be out of date. */
export type Reads = { db: () => Promise<Db & Pick<Database, 'search'>>; close: () => Promise<void> }

const position = statement('standby.position', 'select pg_current_wal_lsn()::text as position')
const reached = statement('standby.reached', 'select coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as reached')

const tries = 4
const pauseMs = 5
const complaintEveryMs = 60_000

/**
 * The standby, once it has everything that was committed when the request arrived; the primary when the standby is further behind or
 * unreachable. So no reader misses a write that was acknowledged before the read began, by any caller and in any process.
 */
export const createReads = (primary: Database, standby: Database | null, logger: Logger): Reads => {
  if (!standby) return { db: async () => primary, close: async () => undefined }
  let complained = Number.NEGATIVE_INFINITY
  const positionNow = joinTurn<null, string>({
    inFlight: 1,
    maxKeys: 1_000,
    query: async (keys) => {
      const [row] = await primary.lookup<{ position: string }>(position)
      return keys.map(() => row?.position ?? 'FFFFFFFF/FFFFFFFF')
    },
  })
  const hasReached = async (target: string): Promise<boolean> => {
    const [row] = await standby.query<{ reached: boolean }>(reached, [target])
    return row?.reached ?? false
  }
  const db = async () => {
    const target = await positionNow(null)
    try {
      for (let count = 1; count <= tries; count += 1) {
        if (await hasReached(target)) return standby
        if (count < tries) await wait(pauseMs)
      }
    } catch (error) {
      const now = performance.now()
      if (now - complained > complaintEveryMs)
        logger.warn(
          { error: error instanceof Error ? error.name : 'unknown' },
          'the standby does not answer: the primary is read',
        )
      complained = now
    }
    return primary
  }
  return { db, close: standby.close }
}
