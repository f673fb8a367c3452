import type { ContractWallets } from '../../auth/contract-wallet.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rails } from '../../rails/rail.ts'

/** What simulations need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  rails: Rails
  contractWallets: ContractWallets
}
