import type { Database } from '../../db/client.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { RequestLog } from './recorder.ts'

/** What the request log needs: `app.ts` builds each part once. */
export type Deps = {
  db: Database
  cursors: Cursors
  requestLog: RequestLog
}
