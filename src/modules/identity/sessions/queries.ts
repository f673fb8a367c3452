import { and, desc, eq, lt } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type SessionRecord = typeof sessions.$inferSelect

export const pageSessions = (db: Db, accountId: Uuid, page: PageRequest): Promise<SessionRecord[]> =>
  db.orm
    .select()
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), page.before === null ? undefined : lt(sessions.id, page.before)))
    .orderBy(desc(sessions.id))
    .limit(page.take)

export const findSession = async (db: Db, accountId: Uuid, id: Uuid): Promise<SessionRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(sessions)
      .where(and(eq(sessions.id, id), eq(sessions.accountId, accountId)))
  )[0]
