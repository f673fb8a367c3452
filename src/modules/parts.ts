import type { Logger } from 'pino'
import type { ContractWallets } from '../auth/contract-wallet.ts'
import type { LastUsed } from '../auth/last-used.ts'
import type { OrderNames } from '../auth/order-names.ts'
import type { IdentityProviders } from '../auth/providers.ts'
import type { ReceiptKeys } from '../auth/receipt-keys.ts'
import type { Derivations, Vault } from '../auth/vault.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/client.ts'
import type { LossDetection } from '../db/loss-detection.ts'
import type { Reads } from '../db/standby.ts'
import type { GuardedFetch } from '../http/guarded-fetch.ts'
import type { Cursors } from '../http/pagination.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Clock } from '../lib/clock.ts'
import type { SendLog } from '../lib/send-log.ts'
import type { Rails } from '../rails/rail.ts'
import type { Alerts } from './alerts.ts'
import type { OnAccountClosed, OnAuthorityLost, OnGrantsRevoked, OnRequesterLost, OwnersRelyingOn } from './ports.ts'

/** Dependencies of features. `app.ts` builds each part once. A function that needs one or two parts takes only those. */
export type Parts = {
  config: Config
  db: Database
  reads: Reads
  clock: Clock
  logger: Logger
  vault: Vault
  derivations: Derivations
  orderNames: OrderNames
  receiptKeys: ReceiptKeys
  contractWallets: ContractWallets
  cursors: Cursors
  jobs: Jobs
  rails: Rails
  lossDetection: LossDetection
  sends: SendLog | undefined
  alerts: Alerts
  onAuthorityLost: OnAuthorityLost
  lastUsed: LastUsed
  identityProviders: IdentityProviders
  /** Reads a client's published metadata document. */
  clientDocuments: GuardedFetch
  onGrantsRevoked: OnGrantsRevoked
  onRequesterLost: OnRequesterLost
  onAccountClosed: OnAccountClosed
  ownersRelyingOn: OwnersRelyingOn
}
