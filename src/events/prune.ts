import { type Db, statement } from '../db/client.ts'
import { prune } from '../db/prune.ts'

const removal = statement(
  'events.prune',
  // The oldest events come first in their order, so no index by time is needed.
  `delete from events where id in (
     select id from (select id, created_at from events order by events.transaction, events.id limit $2 offset $3) as oldest where created_at < $1)
   returning 1`,
)

/** A reader whose position is one of these gets `stream.reset`. */
export const pruneEvents = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
