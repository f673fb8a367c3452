import type { Logger } from 'pino'
import { type Db, statement } from '../db/client.ts'
import { dropPartitions, type Partitioning } from '../db/partitions.ts'
import { prune } from '../db/prune.ts'
import { type Clock, daysAfter } from '../lib/clock.ts'

const oldest = statement('events.prune')`
  delete from events_default where id in (
     select id from (select id, created_at from events_default order by events_default.transaction, events_default.id limit $2 offset $3) as oldest
     where created_at < $1) returning 1`

/** For retention periods up to this length, events are partitioned by week, so that an event is deleted at most a week late. */
const maxDaysInWeeks = 31
export const eventPartitioning = (retentionDays: number): Partitioning => ({
  table: 'events',
  unit: retentionDays <= maxDaysInWeeks ? 'week' : 'month',
})

type Pruning = {
  db: Db
  clock: Clock
  config: { EVENT_RETENTION_DAYS: number; EXPIRED_PERIODS: 'drop' | 'detach' }
  logger: Logger
}

/** Drops whole partitions and deletes other events row by row. A reader whose position was deleted gets `stream.reset`. */
export const pruneEvents = async ({ db, clock, config, logger }: Pruning): Promise<void> => {
  const before = daysAfter(clock.now(), -config.EVENT_RETENTION_DAYS)
  const detached = config.EXPIRED_PERIODS === 'detach'
  const periods = await dropPartitions(db, 'events', config.EVENT_RETENTION_DAYS, detached)
  if (periods.length > 0) logger.info({ periods, detached }, 'old partitions of events removed')
  await prune(db, {
    removal: (db, { before, size, skipped }) => db.query(oldest, [before, size, skipped]),
    before,
  })
}
