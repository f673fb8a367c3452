import type { App } from '../../http/app-type.ts'
import { filtersOf, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { listRequests, ofRequest, presentRequest } from './queries.ts'
import type { RequestLog } from './recorder.ts'
import { ListRequests, LoggedRequest } from './schema.ts'

export const registerRequestLogRoutes = (app: App, deps: Parts & { requestLog: RequestLog }): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/request-log', 'request_log.list', {
    permission: 'account.read',
    summary: 'Read the request log',
    description:
      'Requests of this account in the last seven days that were refused, failed or changed something, by all of its credentials, newest first. Bodies and queries are not kept. A key or an agent sees its own and those of the grants below it. Entries appear within a second, and the last of them are lost when a process is killed. An account keeps the newest 10,000.',
    querystring: ListRequests,
    response: { 200: pageOf(LoggedRequest) },
    of: ({ principal }) => principal.accountId,
    read: async (page, { principal: { accountId, grant }, query: { request_id: requestId, status: statuses, ...asked } }) => {
      const filter = { within: grant?.id ?? null, statuses, ...filtersOf(asked), ...(requestId && ofRequest(requestId)) }
      await deps.requestLog.flush()
      return listRequests(deps.db, accountId, page, filter)
    },
    present: (rows) => rows.map((row) => presentRequest(row)),
  })
}
