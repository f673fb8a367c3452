import type { Logger } from 'pino'
import type { ContractWallets } from '../../auth/contract-wallet.ts'
import type { LastUsed } from '../../auth/last-used.ts'
import type { IdentityProviders } from '../../auth/providers/provider.ts'
import type { Derivations, Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Reads } from '../../db/standby.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OnAccountClosed, OnAuthorityLost, OnGrantsRevoked, OnRequesterLost, OwnersRelyingOn } from '../ports.ts'

/** What accounts, sign-in and sessions need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  reads: Reads
  lastUsed: LastUsed
  clock: Clock
  logger: Logger
  vault: Vault
  derivations: Derivations
  contractWallets: ContractWallets
  identityProviders: IdentityProviders
  cursors: Cursors
  onGrantsRevoked: OnGrantsRevoked
  onAuthorityLost: OnAuthorityLost
  onRequesterLost: OnRequesterLost
  onAccountClosed: OnAccountClosed
  ownersRelyingOn: OwnersRelyingOn
}
