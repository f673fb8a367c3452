import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../../deps.ts'
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
      const list = `sessions:${accountId}`
      const view = viewFor(deps, credential.id)
      const rows = await pageSessions(deps.db, accountId, deps.cursors.read(list, request.query))
      return reply.send(
        deps.cursors.page(
          list,
          request.query,
          rows,
          (row) => row.id,
          (row) => presentSession(row, view),
        ),
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
