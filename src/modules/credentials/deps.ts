import type { Database } from '../../db/client.ts'
import type { Clock } from '../../lib/clock.ts'

/** What credentials need: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  clock: Clock
}
