import { and, desc, isNotNull, isNull, lt } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import type { PageRequest } from '../../http/pagination.ts'

export type SuspenseRecord = typeof suspenseItems.$inferSelect

export const listSuspense = (db: Db, status: 'open' | 'resolved' | undefined, page: PageRequest): Promise<SuspenseRecord[]> =>
  db.orm
    .select()
    .from(suspenseItems)
    .where(
      and(
        status === undefined
          ? undefined
          : status === 'open'
            ? isNull(suspenseItems.resolvedAt)
            : isNotNull(suspenseItems.resolvedAt),
        page.before === null ? undefined : lt(suspenseItems.id, page.before),
      ),
    )
    .orderBy(desc(suspenseItems.id))
    .limit(page.take)
