import type { Logger } from 'pino'
import type { ContractWallets } from '../../auth/contract-wallet.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Alerts } from '../alerts.ts'

/** What policies need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  logger: Logger
  alerts: Alerts
  contractWallets: ContractWallets
  clock: Clock
  cursors: Cursors
}
