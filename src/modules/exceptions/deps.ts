import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Alerts } from '../alerts.ts'

/** What decisions about money need that the service cannot book by itself: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  cursors: Cursors
  alerts: Alerts
}
