import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { createdBetween, newestFirst, ofLineage, ownedBy } from '../../db/list-queries.ts'
import { prepare, type Values } from '../../db/prepare.ts'
import { requestLog } from '../../db/tables/request-log.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { presenter } from '../../http/presenter.ts'
import type { Uuid } from '../../lib/ids.ts'
import { LoggedRequest } from './schema.ts'

type RequestRow = typeof requestLog.$inferSelect

const filters = {
  within: 'uuid?',
  grantId: 'uuid?',
  statuses: 'int[]?',
  requestId: 'text?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const

const list = prepare('request_log.list', { accountId: 'uuid', ...filters, before: 'uuid?', take: 'rows' }, 'page', (orm, param) =>
  newestFirst(
    orm.select().from(requestLog),
    { owner: requestLog.accountId, id: requestLog.id },
    param,
    ownedBy(requestLog.accountId, param.accountId),
    param.within && ofLineage(requestLog.grantId, param.within),
    param.grantId && eq(requestLog.grantId, param.grantId),
    param.requestId && eq(requestLog.requestId, param.requestId),
    param.statuses && sql`${requestLog.status} between (${param.statuses})[1] and (${param.statuses})[2]`,
    createdBetween(
      { id: requestLog.id, at: requestLog.at, owner: { column: requestLog.accountId, id: param.accountId } },
      param.createdAfter,
      param.createdBefore,
    ),
  ),
)

/** `within`: the grant of a delegated reader. `statuses`: the lowest and the highest HTTP status. */
export const listRequests = (db: Db, accountId: Uuid, page: PageRequest, filter: Values<typeof filters>): Promise<RequestRow[]> =>
  db.run(list, { accountId, ...filter, ...page })

export const presentRequest = presenter(LoggedRequest)
