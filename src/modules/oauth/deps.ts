import type { Logger } from 'pino'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { GuardedFetch } from '../../http/outbound/guarded-fetch.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OnGrantsRevoked } from '../ports.ts'
import type { ReadClient } from './ports.ts'

/** What the OAuth endpoints need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  clock: Clock
  logger: Logger
  derivations: Derivations
  /** Reads what a client publishes about itself. */
  clientDocuments: GuardedFetch
  readClient: ReadClient
  onGrantsRevoked: OnGrantsRevoked
}
