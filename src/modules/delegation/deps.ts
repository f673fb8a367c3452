import type { Logger } from 'pino'
import type { LastUsed } from '../../auth/last-used.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Alerts } from '../alerts.ts'
import type { OnGrantsRevoked, OwnersRelyingOn } from '../ports.ts'

/** What grants and API keys need: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  lastUsed: LastUsed
  clock: Clock
  logger: Logger
  cursors: Cursors
  alerts: Alerts
  onGrantsRevoked: OnGrantsRevoked
  ownersRelyingOn: OwnersRelyingOn
}
