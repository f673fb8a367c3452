import { and, desc, eq, inArray, lt } from 'drizzle-orm'
import type { Db, Tx } from '../../db/client.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'

export type AdjustmentRecord = typeof adjustments.$inferSelect

export const findAdjustment = async (db: Db, id: Uuid): Promise<AdjustmentRecord | undefined> =>
  (await db.orm.select().from(adjustments).where(eq(adjustments.id, id)))[0]

/** The caller already holds the balance's lock. */
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

/** What one administrator decided without a second one, of every kind, credits and debits together. */
export const postedAloneSince = async (db: Db, operator: string, since: Date): Promise<Minor> => {
  const [row] = await db.query<{ sum: string }>(
    `select coalesce(sum(abs(amount_minor)), 0)::text as sum from adjustments
     where requested_by = $1 and decided_by = $1 and status = 'posted' and decided_at > $2`,
    [operator, since],
  )
  return BigInt(row?.sum ?? '0')
}

/** Outcomes of these payments that wait for a second administrator: the adjustment of each payment. */
export const waitingOfPayments = async (db: Db, paymentIds: readonly Uuid[]): Promise<Map<Uuid, Uuid>> => {
  if (paymentIds.length === 0) return new Map()
  const rows = await db.orm
    .select({ id: adjustments.id, paymentId: adjustments.paymentId })
    .from(adjustments)
    .where(and(inArray(adjustments.paymentId, [...paymentIds]), eq(adjustments.status, 'pending')))
  return new Map(rows.flatMap(({ id, paymentId }) => (paymentId === null ? [] : [[paymentId, id] as const])))
}
