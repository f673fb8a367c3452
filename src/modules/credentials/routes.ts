import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { Credential } from './schema.ts'
import { readCredential } from './service.ts'

export const registerCredentials = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/credentials/current', 'credentials.current', {
    access: 'authenticated',
    whileNotAdmitted: true,
    summary: 'Retrieve the current credential',
    description:
      'Returns the account, workspace, role, permissions and grant of the credential. `headroom` is the amount that it can still pay under the strictest limit of its grants and of the policies that apply to every payment. Agents should call this first to learn their limits.',
    response: { 200: Credential },
    read: ({ principal }) => readCredential(deps.db, deps.clock, principal),
  })
}
