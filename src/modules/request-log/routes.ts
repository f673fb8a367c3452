import type { App } from '../../http/app-type.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import type { Deps } from './deps.ts'
import { presentRequest } from './present.ts'
import { listRequests } from './queries.ts'
import { ListRequests, LoggedRequest } from './schema.ts'

export const registerRequestLogRoutes = (app: App, deps: Deps): void => {
  app.get(
    '/v1/request-log',
    {
      config: { operation: 'request_log.list', permission: 'account.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: ListRequests, response: { 200: pageOf(LoggedRequest) } },
    },
    async (request, reply) => {
      const { accountId, grant } = request.principal
      const { grant_id: grantId, status: statuses, created_after: createdAfter, created_before: createdBefore } = request.query
      const filter = { within: grant?.id ?? null, grantId, statuses, createdAfter, createdBefore }
      await deps.requestLog.flush()
      return reply.send(
        await readPage(deps, request, {
          of: accountId,
          read: (page) => listRequests(deps.db, accountId, page, filter),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentRequest),
        }),
      )
    },
  )
}
