import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { routesOf } from '../../../http/routes.ts'
import { readAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { AccountWithIdentities } from '../identities/schema.ts'
import { closeOwnAccount } from './close.ts'

export const registerClosing = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.delete('/v1/accounts/me', {
    config: { operation: 'accounts.close', freshProof: 'always', access: 'undelegated', refuses: ['conflict'] },
    schema: { response: { 200: AccountWithIdentities } },
    work: async (tx, { principal }) => {
      await closeOwnAccount(tx, deps, principal)
      return ok({ ...(await readAccount(tx, principal.accountId)), identities: [] })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
