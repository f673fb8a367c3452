import type { Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Push } from './send.ts'

/** What subscriptions to notices need: `app.ts` builds each part once. `push` is null where it is off. */
export type Deps = { config: Config; db: Database; clock: Clock; cursors: Cursors; vault: Vault; push: Push | null }
