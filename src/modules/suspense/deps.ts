import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Alerts } from '../alerts.ts'

/** What suspense needs: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  cursors: Cursors
  alerts: Alerts
}
