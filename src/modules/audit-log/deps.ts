import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'

/** What the audit log needs: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  cursors: Cursors
}
