import type { Logger } from 'pino'
import type { Derivations, Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rails } from '../../rails/rail.ts'
import type { Alerts } from '../alerts.ts'

/** What top-ups need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  logger: Logger
  vault: Vault
  derivations: Derivations
  jobs: Jobs
  rails: Rails
  alerts: Alerts
}
