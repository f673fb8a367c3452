import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Witness } from '../../db/witness.ts'
import type { Feed } from '../../events/feed.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'

/** What notifications need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  witness: Witness
  clock: Clock
  logger: Logger
  cursors: Cursors
  feed: Feed
}
