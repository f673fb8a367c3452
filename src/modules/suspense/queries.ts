import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { type Db, first } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'

export type SuspenseRecord = typeof suspenseItems.$inferSelect

/** With the deposit that it is about, if any. */
export type SuspenseView = SuspenseRecord & {
  deposit: Pick<typeof deposits.$inferSelect, 'payerName' | 'reference' | 'paidAt'> | null
}

type Selected = {
  item: SuspenseRecord
  depositId: Uuid | null
  deposit: { [Name in keyof NonNullable<SuspenseView['deposit']>]: NonNullable<SuspenseView['deposit']>[Name] | null } | null
}

const selectItems = (orm: QueryBuilder) =>
  orm
    .select({
      item: suspenseItems,
      depositId: deposits.id,
      deposit: { payerName: deposits.payerName, reference: deposits.reference, paidAt: deposits.paidAt },
    })
    .from(suspenseItems)
    .leftJoin(deposits, eq(deposits.suspenseId, suspenseItems.id))

const viewOf = ({ item, depositId, deposit }: Selected): SuspenseView => ({
  ...item,
  deposit: depositId === null ? null : (deposit as SuspenseView['deposit']),
})

const list = prepare(
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

export const listSuspense = async (db: Db, status: 'open' | 'resolved' | undefined, page: PageRequest): Promise<SuspenseView[]> =>
  (await db.run(list, { open: status === 'open', resolved: status === 'resolved', ...page })).map(viewOf)

const byId = prepare('suspense.by_id', { id: 'uuid' }, (orm, at) => selectItems(orm).where(eq(suspenseItems.id, at.id)))

export const findSuspense = async (db: Db, id: Uuid): Promise<SuspenseView | undefined> => {
  const row = await first(db, byId, { id })
  return row && viewOf(row)
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
