import type { App } from '../../http/app-type.ts'
import { pageOf } from '../../http/pagination.ts'
import { listsOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { listRequests, ofRequest, presentRequest } from './queries.ts'
import type { RequestLog } from './recorder.ts'
import { ListRequests, LoggedRequest } from './schema.ts'

export const registerRequestLogRoutes = (app: App, deps: Parts & { requestLog: RequestLog }): void => {
  const list = listsOf(app, deps)
  list('/v1/request-log', {
    config: { operation: 'request_log.list', permission: 'account.read' },
    schema: {
      summary: 'Read the request log',
      description:
        'Requests of this account in the last seven days that were refused, failed or changed something, by all of its credentials, newest first. Bodies and queries are not kept. A key or an agent sees its own and those of the grants below it. Entries appear within a second, and the last of them are lost when a process is killed. An account keeps the newest 10,000.',
      querystring: ListRequests,
      response: { 200: pageOf(LoggedRequest) },
    },
    listing: async ({ principal, query }) => {
      const { accountId, grant } = principal
      const { grant_id: grantId, status: statuses, created_after: createdAfter, created_before: createdBefore } = query
      const filter = {
        within: grant?.id ?? null,
        grantId,
        statuses,
        createdAfter,
        createdBefore,
        ...(query.request_id && ofRequest(query.request_id)),
      }
      await deps.requestLog.flush()
      return {
        of: accountId,
        read: (page) => listRequests(deps.db, accountId, page, filter),
        present: (rows) => rows.map(presentRequest),
      }
    },
  })
}
