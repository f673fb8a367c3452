import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { topups } from '../../db/tables/payments.ts'
import type { Uuid } from '../../lib/ids.ts'

export type TopupRecord = typeof topups.$inferSelect

export const findTopup = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<TopupRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(topups)
      .where(and(eq(topups.id, id), eq(topups.workspaceId, workspaceId)))
  )[0]

export const getTopup = async (db: Db, id: Uuid): Promise<TopupRecord> => {
  const [topup] = await db.orm.select().from(topups).where(eq(topups.id, id))
  if (!topup) throw new Error('a top-up that must exist is missing')
  return topup
}
