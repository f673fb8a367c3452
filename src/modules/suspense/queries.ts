import { and, eq, getTableColumns, isNotNull, isNull, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { type Db, first } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'

export type AdjustmentRecord = typeof adjustments.$inferSelect

export const findAdjustment = selectRow('adjustments.by_id', adjustments, ['id'])

/** The caller already holds the balance's lock. */
export const lockAdjustment = selectRow('adjustments.lock', adjustments, ['id'], { lock: 'update' })

type AdjustmentFilter = { status?: AdjustmentRecord['status'] | undefined; accountId?: Uuid | undefined }

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
 * written off, and money that left suspense; what was resolved as adjusted counts by its adjustment, and what another one proposed was moved by two.
 */
export const movedAloneSince = async (db: Db, operator: string, since: Date): Promise<Minor> => {
  const moved = await db.query<{ sum: Minor }>(
    `select coalesce(sum(minor), 0)::bigint as sum from (
       select abs(amount_minor) as minor from adjustments
       where requested_by = $1 and decided_by = $1 and status = 'posted' and decided_at > $2
       union all
       select amount_minor from suspense_items
       where resolved_by = $1 and resolved_at > $2 and transfer_id is not null and outcome <> 'adjusted' and proposed_by is null) as moved`,
    [operator, since],
  )
  return only(moved).sum
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

export type SuspenseRecord = typeof suspenseItems.$inferSelect

/** With the deposit that it is about, if any. */
const selectItems = (orm: QueryBuilder) =>
  orm
    .select({
      ...getTableColumns(suspenseItems),
      payerName: deposits.payerName,
      paymentReference: deposits.reference,
      paidAt: deposits.paidAt,
    })
    .from(suspenseItems)
    .leftJoin(deposits, eq(deposits.suspenseId, suspenseItems.id))

const listItems = prepare(
  'suspense.list',
  { open: 'flag?', resolved: 'flag?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      selectItems(orm),
      { id: suspenseItems.id },
      at,
      at.open && isNull(suspenseItems.resolvedAt),
      at.resolved && isNotNull(suspenseItems.resolvedAt),
    ),
  'pool',
)

export const listSuspense = (db: Db, status: 'open' | 'resolved' | undefined, page: PageRequest): Promise<SuspenseView[]> =>
  db.run(listItems, { open: status === 'open', resolved: status === 'resolved', ...page })

const itemById = prepare('suspense.by_id', { id: 'uuid' }, (orm, at) => selectItems(orm).where(eq(suspenseItems.id, at.id)))

export type SuspenseView = ReturnType<typeof selectItems>['_']['result'][number]

export const findSuspense = (db: Db, id: Uuid): Promise<SuspenseView | undefined> => first(db, itemById, { id })

/** As it is after a decision about it. */
export const getSuspense = async (db: Db, id: Uuid): Promise<SuspenseView> => {
  const item = await findSuspense(db, id)
  if (!item) throw new Error('an item of suspense that must exist is missing')
  return item
}

const incoming = prepare('suspense.incoming', { rails: 'text[]', receipt: 'text' }, (orm, at) =>
  orm
    .select()
    .from(suspenseItems)
    .where(
      and(
        sql`${suspenseItems.rail} = any(${at.rails})`,
        eq(suspenseItems.providerReceipt, at.receipt),
        eq(suspenseItems.direction, 'in'),
      ),
    )
    .orderBy(suspenseItems.id)
    .limit(1),
)

/** What waits under a receipt at one of these rails, booked or not, resolved or not. */
export const findSuspenseOf = (db: Db, rails: readonly string[], receipt: string): Promise<SuspenseRecord | undefined> =>
  first(db, incoming, { rails, receipt })
