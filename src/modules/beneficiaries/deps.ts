import type { Derivations, Vault } from '../../auth/vault.ts'
import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Rails } from '../../rails/rail.ts'

/** What beneficiaries need: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  vault: Vault
  derivations: Derivations
  cursors: Cursors
  jobs: Pick<Jobs, 'wake'>
  rails: Pick<Rails, 'payout'>
}
