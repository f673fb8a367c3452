import { and, eq } from 'drizzle-orm'
import { type Db, first } from '../../../db/client.ts'
import { newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type SessionRecord = typeof sessions.$inferSelect

const page = prepare(
  'sessions.page',
  { accountId: 'uuid', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(sessions),
      { owner: sessions.accountId, id: sessions.id },
      at,
      ownedBy(sessions.accountId, at.accountId),
    ),
  'page',
)

export const pageSessions = (db: Db, accountId: Uuid, request: PageRequest): Promise<SessionRecord[]> =>
  db.run(page, { accountId, ...request })

const byId = prepare('sessions.by_id', { accountId: 'uuid', id: 'uuid' }, (orm, at) =>
  orm
    .select()
    .from(sessions)
    .where(and(eq(sessions.id, at.id), eq(sessions.accountId, at.accountId))),
)

export const findSession = (db: Db, accountId: Uuid, id: Uuid): Promise<SessionRecord | undefined> =>
  first(db, byId, { accountId, id })
