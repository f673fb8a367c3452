import type { App } from '../../../http/app-type.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf } from '../../../http/routes.ts'
import type { Deps } from '../deps.ts'
import { presentSession } from './present.ts'
import { pageSessions } from './queries.ts'
import { Session } from './schema.ts'
import { viewFor } from './service.ts'

export const registerSessions = (app: App, deps: Deps): void => {
  const list = listsOf(app, deps)
  list('/v1/accounts/me/sessions', {
    config: { operation: 'sessions.list', permission: 'account.manage' },
    schema: {
      summary: 'List sessions',
      description: 'The browsers in which the account is signed in.',
      querystring: PageQuery,
      response: { 200: pageOf(Session) },
    },
    listing: async ({ principal }) => {
      await deps.lastUsed.flush()
      const { accountId, credential } = principal
      const view = viewFor(deps.clock, deps.config, credential.id)
      return {
        of: accountId,
        read: (page) => pageSessions(deps.db, accountId, page),
        present: (rows) => rows.map((row) => presentSession(row, view)),
      }
    },
  })
}
