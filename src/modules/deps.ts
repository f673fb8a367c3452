import type { Logger } from 'pino'
import type { ContractWallets } from '../auth/contract-wallet.ts'
import type { LastUsed } from '../auth/last-used.ts'
import type { IdentityProviders } from '../auth/providers/provider.ts'
import type { Derivations, Vault } from '../auth/vault.ts'
import type { Config } from '../config.ts'
import type { Database, Tx } from '../db/client.ts'
import type { Reads } from '../db/standby.ts'
import type { AppendEvents } from '../events/append.ts'
import type { Actor } from '../events/audit.ts'
import type { Feed } from '../events/feed.ts'
import type { Cursors } from '../http/pagination.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Rails } from '../rails/rail.ts'
import type { Alerts } from './alerts.ts'
import type { DocumentFetcher } from './oauth/clients/fetch-document.ts'
import type { ReadClient } from './oauth/clients/read-client.ts'
import type { SubmitPayment } from './payments/create/request.ts'

/** The parts that features are built from; `app.ts` creates them once. */
export type Deps = {
  config: Config
  db: Database
  /** For lists and exports, never for a decision. */
  reads: Reads
  lastUsed: LastUsed
  clock: Clock
  logger: Logger
  vault: Vault
  derivations: Derivations
  contractWallets: ContractWallets
  identityProviders: IdentityProviders
  /** Reads what OAuth clients publish about themselves. */
  clientDocuments: DocumentFetcher
  /** A registered OAuth client, as it is stored. */
  readClient: ReadClient
  cursors: Cursors
  appendEvents: AppendEvents
  feed: Feed
  jobs: Jobs
  rails: Rails
  alerts: Alerts
  /** Payments are decided in batches: every route and tool that creates a payment uses this. */
  submitPayment: SubmitPayment
  /**
   * Called in the transaction that revokes grants: sign-in methods end with the grant that linked them. Delegation cannot import sign-in,
   * which imports it.
   */
  onGrantsRevoked: (tx: Tx, actor: Actor, ended: { accountId: Uuid; grantIds: readonly Uuid[] }) => Promise<void>
}
