import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { readAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { AccountWithIdentities } from '../identities/schema.ts'
import { closeOwnAccount } from './close.ts'

export const registerClosing = (app: App, deps: Deps): void => {
  app.delete(
    '/v1/accounts/me',
    {
      config: {
        operation: 'accounts.close',
        access: 'undelegated',
        refuses: ['conflict'],
      },
      schema: { response: { 200: AccountWithIdentities } },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) => {
          await closeOwnAccount(tx, deps, request.principal)
          return ok({ ...(await readAccount(tx, deps, request.principal.accountId)), identities: [] })
        },
        () => deps.ownersRelyingOn(deps.db, request.principal.accountId),
      ),
  )
}
