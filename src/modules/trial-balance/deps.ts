import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'

/** What the trial balance needs: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
}
