import type { Config } from '../../config.ts'
import type { Reads } from '../../db/standby.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'

/** What statements need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  clock: Clock
  cursors: Cursors
  reads: Reads
}
