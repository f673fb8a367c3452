import { and, desc, eq, inArray, isNotNull, isNull, lt } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'

export type SuspenseRecord = typeof suspenseItems.$inferSelect

/** With the deposit that it is about, if any. */
export type SuspenseView = SuspenseRecord & {
  deposit: Pick<typeof deposits.$inferSelect, 'payerName' | 'reference' | 'paidAt'> | null
}

const viewOf = (db: Db) =>
  db.orm
    .select({
      item: suspenseItems,
      deposit: { payerName: deposits.payerName, reference: deposits.reference, paidAt: deposits.paidAt },
    })
    .from(suspenseItems)
    .leftJoin(deposits, eq(deposits.suspenseId, suspenseItems.id))

export const listSuspense = async (
  db: Db,
  status: 'open' | 'resolved' | undefined,
  page: PageRequest,
): Promise<SuspenseView[]> => {
  const isOpen = status === 'open' ? isNull(suspenseItems.resolvedAt) : isNotNull(suspenseItems.resolvedAt)
  const before = page.before === null ? undefined : lt(suspenseItems.id, page.before)
  const rows = await viewOf(db)
    .where(and(status === undefined ? undefined : isOpen, before))
    .orderBy(desc(suspenseItems.id))
    .limit(page.take)
  return rows.map(({ item, deposit }) => ({ ...item, deposit }))
}

export const findSuspense = async (db: Db, id: Uuid): Promise<SuspenseView | undefined> => {
  const [row] = await viewOf(db).where(eq(suspenseItems.id, id))
  return row && { ...row.item, deposit: row.deposit }
}

/** What waits under a receipt at one of these rails, booked or not, resolved or not. */
export const findSuspenseOf = async (db: Db, rails: readonly string[], receipt: string): Promise<SuspenseRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(suspenseItems)
      .where(
        and(
          inArray(suspenseItems.rail, [...rails]),
          eq(suspenseItems.providerReceipt, receipt),
          eq(suspenseItems.direction, 'in'),
        ),
      )
      .orderBy(suspenseItems.id)
      .limit(1)
  )[0]
