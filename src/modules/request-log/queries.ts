import { eq, gte, lte, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { createdBetween, newestFirst, ofLineage, ownedBy } from '../../db/list-queries.ts'
import { prepare, type Values } from '../../db/prepare.ts'
import { requestLog } from '../../db/tables/request-log.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { presenter } from '../../http/presenter.ts'
import { firstIdAt, timeOfId, type Uuid } from '../../lib/ids.ts'
import { LoggedRequest } from './schema.ts'

type RequestRow = typeof requestLog.$inferSelect

const filters = {
  within: 'uuid?',
  grantId: 'uuid?',
  statuses: 'int[]?',
  requestId: 'text?',
  /** The range of ids that contains the request's entry. */
  first: 'uuid?',
  last: 'uuid?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const

const list = prepare('request_log.list', { accountId: 'uuid', ...filters, before: 'uuid?', take: 'rows' }, 'page', (orm, at) =>
  newestFirst(
    orm.select().from(requestLog),
    { owner: requestLog.accountId, id: requestLog.id },
    at,
    ownedBy(requestLog.accountId, at.accountId),
    at.within && ofLineage(requestLog.grantId, at.within),
    at.grantId && eq(requestLog.grantId, at.grantId),
    at.requestId && eq(requestLog.requestId, at.requestId),
    at.first && gte(requestLog.id, at.first),
    at.last && lte(requestLog.id, at.last),
    at.statuses && sql`${requestLog.status} between (${at.statuses})[1] and (${at.statuses})[2]`,
    createdBetween(
      { id: requestLog.id, at: requestLog.at, owner: { column: requestLog.accountId, id: at.accountId } },
      at.createdAfter,
      at.createdBefore,
    ),
  ),
)

/**
 * A request's id and its entry's begin with their times, and no request takes an hour. In earlier versions the request's id was
 * random.
 */
export const ofRequest = (requestId: string) => {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(requestId)) return { requestId }
  const began = timeOfId(requestId)
  const at = (minutes: number) => firstIdAt(new Date(began.getTime() + minutes * 60_000))
  return { requestId, first: at(-1), last: at(60) }
}

/** `within`: the grant of a delegated reader. `statuses`: the lowest and the highest. */
export const listRequests = (db: Db, accountId: Uuid, page: PageRequest, filter: Values<typeof filters>): Promise<RequestRow[]> =>
  db.run(list, { accountId, ...filter, ...page })

export const presentRequest = presenter(LoggedRequest)
