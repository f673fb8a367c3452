import type { Logger } from 'pino'
import type { OrderNames } from '../../auth/order-names.ts'
import type { Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rails } from '../../rails/rail.ts'
import type { Alerts } from '../alerts.ts'

/** What decisions about money need that the service cannot book by itself: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  vault: Vault
  logger: Logger
  cursors: Cursors
  rails: Rails
  alerts: Alerts
  orderNames: OrderNames
}
