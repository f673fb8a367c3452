import type { LastUsed } from '../../auth/last-used.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OnAuthorityLost, OnRequesterLost } from '../ports.ts'

/** What workspaces need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  cursors: Cursors
  lastUsed: LastUsed
  onAuthorityLost: OnAuthorityLost
  onRequesterLost: OnRequesterLost
}
