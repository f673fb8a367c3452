import { and, eq, sql } from 'drizzle-orm'
import { lockAccount } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
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

/** The only way to lock a top-up: by the account that it credits, which guards it. */
export const lockTopupWithAccount = async (tx: Tx, id: Uuid): Promise<TopupRecord> => {
  const { accountId } = await getTopup(tx, id)
  const [, topup] = await Promise.all([lockAccount(tx, accountId), getTopup(tx, id)])
  return topup
}

/** Due, and without an attempt that may have been sent. Their accounts are locked. */
export const readDueTopups = (tx: Tx, ids: readonly Uuid[], at: Date): Promise<TopupRecord[]> =>
  tx.orm
    .select()
    .from(topups)
    .where(
      and(
        sql`${topups.id} = any(${sql.param(ids)}::uuid[])`,
        eq(topups.status, 'pending'),
        sql`${topups.dispatchDueAt} <= ${at.toISOString()}`,
        sql`not exists (select from rail_attempts a where a.subject_id = ${topups.id} and a.state <> 'not_sent')`,
      ),
    )
    .orderBy(topups.dispatchDueAt, topups.id)
    // A drizzle query is sent when it is awaited; this one is sent before the next.
    .execute()

export const getTopup = async (db: Db, id: Uuid): Promise<TopupRecord> => {
  const [topup] = await db.orm.select().from(topups).where(eq(topups.id, id))
  if (!topup) throw new Error('a top-up that must exist is missing')
  return topup
}
