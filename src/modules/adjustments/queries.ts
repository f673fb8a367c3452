import { and, desc, eq, lt } from 'drizzle-orm'
import type { Db, Tx } from '../../db/client.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'

export type AdjustmentRecord = typeof adjustments.$inferSelect

export const findAdjustment = async (db: Db, id: Uuid): Promise<AdjustmentRecord | undefined> =>
  (await db.orm.select().from(adjustments).where(eq(adjustments.id, id)))[0]

/** The balance's lock is held already. */
export const lockAdjustment = async (tx: Tx, id: Uuid): Promise<AdjustmentRecord> => {
  const [adjustment] = await tx.orm.select().from(adjustments).where(eq(adjustments.id, id)).for('update')
  if (!adjustment) throw new Error('an adjustment that must exist is missing')
  return adjustment
}

export type AdjustmentFilter = { status?: AdjustmentRecord['status']; accountId?: Uuid }

export const listAdjustments = (db: Db, filter: AdjustmentFilter, page: PageRequest): Promise<AdjustmentRecord[]> =>
  db.orm
    .select()
    .from(adjustments)
    .where(
      and(
        filter.status === undefined ? undefined : eq(adjustments.status, filter.status),
        filter.accountId === undefined ? undefined : eq(adjustments.accountId, filter.accountId),
        page.before === null ? undefined : lt(adjustments.id, page.before),
      ),
    )
    .orderBy(desc(adjustments.id))
    .limit(page.take)
