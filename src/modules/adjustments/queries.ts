import { and, eq, sql } from 'drizzle-orm'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'

export type AdjustmentRecord = typeof adjustments.$inferSelect

const byId = prepare('adjustments.by_id', { id: 'uuid' }, (orm, at) =>
  orm.select().from(adjustments).where(eq(adjustments.id, at.id)),
)

export const findAdjustment = (db: Db, id: Uuid): Promise<AdjustmentRecord | undefined> => first(db, byId, { id })

const lockById = prepare('adjustments.lock', { id: 'uuid' }, (orm, at) =>
  orm.select().from(adjustments).where(eq(adjustments.id, at.id)).for('update'),
)

/** The caller already holds the balance's lock. */
export const lockAdjustment = async (tx: Tx, id: Uuid): Promise<AdjustmentRecord> => {
  const adjustment = await first(tx, lockById, { id })
  if (!adjustment) throw new Error('an adjustment that must exist is missing')
  return adjustment
}

export type AdjustmentFilter = { status?: AdjustmentRecord['status']; accountId?: Uuid }

const list = prepare(
  'adjustments.list',
  { status: 'text?', accountId: 'uuid?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(adjustments),
      { id: adjustments.id },
      at,
      at.status && eq(adjustments.status, at.status),
      at.accountId && eq(adjustments.accountId, at.accountId),
    ),
  'pool',
)

export const listAdjustments = (db: Db, filter: AdjustmentFilter, page: PageRequest): Promise<AdjustmentRecord[]> =>
  db.run(list, { ...filter, ...page })

/**
 * All value that one administrator moved without a second one, whatever its direction: adjustments, payments resolved as failed, late successes
 * written off, and money that left suspense; what was resolved as adjusted counts by its adjustment.
 */
export const movedAloneSince = async (db: Db, operator: string, since: Date): Promise<Minor> => {
  const [row] = await db.query<{ sum: string }>(
    `select coalesce(sum(minor), 0)::text as sum from (
       select abs(amount_minor) as minor from adjustments
       where requested_by = $1 and decided_by = $1 and status = 'posted' and decided_at > $2
       union all
       select amount_minor from suspense_items
       where resolved_by = $1 and resolved_at > $2 and transfer_id is not null and outcome <> 'adjusted') as moved`,
    [operator, since],
  )
  return BigInt(row?.sum ?? '0')
}

const waiting = prepare('adjustments.waiting', { paymentIds: 'uuid[]' }, (orm, at) =>
  orm
    .select({ id: adjustments.id, paymentId: adjustments.paymentId })
    .from(adjustments)
    .where(and(sql`${adjustments.paymentId} = any(${at.paymentIds})`, sql`${adjustments.status} = 'pending'`)),
)

/** Outcomes of these payments that wait for a second administrator: the adjustment of each payment. */
export const waitingOfPayments = async (db: Db, paymentIds: readonly Uuid[]): Promise<Map<Uuid, Uuid>> => {
  if (paymentIds.length === 0) return new Map()
  const rows = await db.run(waiting, { paymentIds })
  return new Map(rows.flatMap(({ id, paymentId }) => (paymentId === null ? [] : [[paymentId, id] as const])))
}
