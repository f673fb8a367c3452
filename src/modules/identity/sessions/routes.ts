import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentSession } from './present.ts'
import { pageSessions } from './queries.ts'
import { Session } from './schema.ts'
import { endSession, viewFor } from './service.ts'

export const registerSessions = (app: App, deps: Deps): void => {
  app.get(
    '/v1/accounts/me/sessions',
    {
      config: { operation: 'sessions.list', permission: 'account.manage', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: PageQuery, response: { 200: pageOf(Session) } },
    },
    async (request, reply) => {
      await deps.lastUsed.flush()
      const { accountId, credential } = request.principal
      const view = viewFor(deps, credential.id)
      return reply.send(
        await readPage(deps, request, {
          of: accountId,
          read: (page) => pageSessions(deps.db, accountId, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map((row) => presentSession(row, view)),
        }),
      )
    },
  )
  app.delete(
    '/v1/accounts/me/sessions/:id',
    {
      config: {
        operation: 'sessions.revoke',
        permission: 'account.manage',
        whileFrozen: true,
        refuses: ['forbidden', 'grant_frozen', 'not_found'],
      },
      schema: { params: byId('session'), response: { 200: Session } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const session = await endSession(tx, deps, request.principal, request.params.id)
        return ok(presentSession(session, viewFor(deps, request.principal.credential.id)))
      }),
  )
}
