import { setTimeout as wait } from 'node:timers/promises'
import type { TestService } from './service.ts'

/**
 * A transaction of another database on the server that is older than our newest event, and still runs. It delays events only at
 * the moment of its end: its database is then unknown, and a list has no newer events.
 */
const olderElsewhere = `select from pg_snapshot_xip(pg_current_snapshot()) as running
  where running < (select transaction from events order by transaction desc, id desc limit 1) and not exists (
    select from pg_stat_activity where backend_xid = running::xid and datname = current_database())`

/** Two files that each hold a transaction would wait for each other. */
const usuallyMs = 3_000

/** Afterwards every list has all events committed so far, whatever ends in other databases. */
export const settledEvents = async ({ deps }: Pick<TestService, 'deps'>, maxMs = usuallyMs): Promise<void> => {
  const giveUp = performance.now() + maxMs
  for (let pauseMs = 2; performance.now() < giveUp && (await deps.db.query(olderElsewhere)).length > 0; ) {
    await wait(pauseMs)
    pauseMs = Math.min(2 * pauseMs, 64)
  }
}
