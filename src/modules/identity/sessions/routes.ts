import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentSession } from './present.ts'
import { pageSessions } from './queries.ts'
import { Session } from './schema.ts'
import { endSession, viewFor } from './service.ts'

export const registerSessions = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/accounts/me/sessions', {
    config: { operation: 'sessions.list', permission: 'account.manage' },
    schema: { querystring: PageQuery, response: { 200: pageOf(Session) } },
    listing: async ({ principal }) => {
      await deps.lastUsed.flush()
      const { accountId, credential } = principal
      const view = viewFor(deps, credential.id)
      return {
        of: accountId,
        read: (page) => pageSessions(deps.db, accountId, page),
        present: (rows) => rows.map((row) => presentSession(row, view)),
      }
    },
  })
  routes.delete('/v1/accounts/me/sessions/:id', {
    config: {
      operation: 'sessions.revoke',
      permission: 'account.manage',
      whileFrozen: true,
      refuses: ['forbidden', 'grant_frozen', 'not_found'],
    },
    schema: { params: byId('session'), response: { 200: Session } },
    work: async (tx, { principal, params }) => {
      const session = await endSession(tx, deps, principal, params.id)
      return ok(presentSession(session, viewFor(deps, principal.credential.id)))
    },
  })
}
