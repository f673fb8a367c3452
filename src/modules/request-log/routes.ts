import type { App } from '../../http/app-type.ts'
import { filtersOf, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { listRequests, presentRequest } from './queries.ts'
import type { RequestLog } from './recorder.ts'
import { ListRequests, LoggedRequest } from './schema.ts'

export const registerRequestLogRoutes = (app: App, deps: Parts & { requestLog: RequestLog }): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/request-log', 'request_log.list', {
    permission: 'account.read',
    summary: 'List logged requests',
    description:
      'Returns requests by all credentials of the account in the last seven days that failed or changed something, newest first. Bodies and queries are not stored. A key or an agent sees its own requests and those of the grants below it. Entries appear within a second; the latest ones are lost if a process is killed. The newest 10,000 are kept for each account.',
    querystring: ListRequests,
    response: { 200: pageOf(LoggedRequest) },
    owner: ({ principal }) => principal.accountId,
    read: async (page, { principal: { accountId, grant }, query: { status: statuses, ...asked } }) => {
      const filter = { within: grant?.id ?? null, statuses, ...filtersOf(asked) }
      await deps.requestLog.flush()
      return listRequests(deps.db, accountId, page, filter)
    },
    present: (rows) => rows.map((row) => presentRequest(row)),
  })
}
