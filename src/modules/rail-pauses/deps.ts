import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rails } from '../../rails/rail.ts'
import type { Alerts } from '../alerts.ts'

/** What pauses of rails need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  logger: Logger
  rails: Rails
  alerts: Alerts
}
