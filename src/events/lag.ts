import { type Db, statement } from '../db/client.ts'
import type { Position } from './read.ts'

const oldest = statement(
  'events.oldest_undelivered',
  'select created_at from events where (transaction, id) > ($1::xid8, $2::uuid) order by events.transaction, events.id limit 1',
)

/** The creation time of the oldest event that this process has not yet passed to its readers; undefined when there is none. */
export const oldestUndelivered = async (db: Db, position: Position): Promise<Date | undefined> =>
  (await db.query<{ created_at: Date }>(oldest, [position.transaction, position.id]))[0]?.created_at
