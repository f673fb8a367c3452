import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import type { Deps } from './deps.ts'
import { Credential } from './schema.ts'
import { readCredential } from './service.ts'

export const registerCredentials = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/credentials/current', {
    config: { operation: 'credentials.current', access: 'authenticated', whileNotAdmitted: true },
    schema: { response: { 200: Credential } },
    read: ({ principal }) => readCredential(deps.db, deps.clock, principal),
  })
}
