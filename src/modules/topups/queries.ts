import { and, eq, sql } from 'drizzle-orm'
import { lockAccounts } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
import { plainList } from '../../db/lists.ts'
import { topups } from '../../db/tables/payments.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/only.ts'
import { earlierSql } from '../payments/lifecycle/attempts/queries.ts'
import type { Earlier } from '../payments/lifecycle/attempts/subject.ts'

export type TopupRecord = typeof topups.$inferSelect

export const findTopup = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<TopupRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(topups)
      .where(and(eq(topups.id, id), eq(topups.workspaceId, workspaceId)))
  )[0]

/** In any workspace: for a provider's word, and for administrators. */
export const findTopupById = async (db: Db, id: Uuid): Promise<TopupRecord | undefined> =>
  (await db.orm.select().from(topups).where(eq(topups.id, id)))[0]

const readTopups = (db: Db, ids: readonly Uuid[]): Promise<TopupRecord[]> =>
  db.orm
    .select()
    .from(topups)
    .where(sql`${topups.id} = any(${plainList(ids)}::uuid[])`)
    // A drizzle query is sent when it is awaited; this one is sent before the next.
    .execute()

/** The only way to lock top-ups: by the accounts that they credit, which guard them. */
export const lockTopupsWithAccounts = async (tx: Tx, ids: readonly Uuid[]): Promise<TopupRecord[]> => {
  const unlocked = await readTopups(tx, ids)
  if (unlocked.length !== ids.length) throw new Error('a top-up that must exist is missing')
  const [, locked] = await Promise.all([
    lockAccounts(tx, { exclusive: unlocked.map(({ accountId }) => accountId) }),
    readTopups(tx, ids),
  ])
  return locked
}

export const lockTopupWithAccount = async (tx: Tx, id: Uuid): Promise<TopupRecord> => only(await lockTopupsWithAccounts(tx, [id]))

/** Due, and without an attempt that may have been sent. Their accounts are locked. */
export const readDueTopups = (tx: Tx, ids: readonly Uuid[], at: Date): Promise<{ topup: TopupRecord; earlier: Earlier }[]> =>
  tx.orm
    .select({ topup: topups, earlier: sql<Earlier>`${sql.raw(earlierSql('topups.id'))}` })
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
