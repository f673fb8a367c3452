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
    schema: {
      summary: 'Close your account',
      description:
        'Closes the account for good. Only a person can, and only while nothing is held and the balance is 0: pay the rest out first. Every key, agent, session and sign-in method ends, its workspaces close to all members, and what waits for an approval or a date is cancelled. The e-mail, the names and the addresses of sessions are removed, and the destinations of its payees can no longer be read by anyone. What was signed, receipts and the ledger are kept for as long as the law asks. A later sign-in begins a new account.',
      response: { 200: AccountWithIdentities },
    },
    work: async (tx, { principal }) => {
      await closeOwnAccount(tx, deps, principal)
      return ok({ ...(await readAccount(tx, principal.accountId)), identities: [] })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
