import { type Db, statement } from '../db/client.ts'
import { pruneInBatches } from '../db/prune.ts'

const removal = statement(
  'events.prune',
  'delete from events where id in (select id from events where created_at < $1 order by created_at limit $2) returning 1',
)

/** A reader who still stands at one of these gets `stream.reset`. */
export const pruneEvents = (db: Db, before: Date): Promise<void> => pruneInBatches(db, removal, before)
