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
    summary: 'Read what this credential may do',
    description:
      'The account, workspace, role, permissions and grant behind the credential, and its headroom: how much it can still pay, under the tightest limit of its grants and of the policies that apply to every payment. An agent calls this first, instead of learning its limits from refusals.',
    response: { 200: Credential },
    read: ({ principal }) => readCredential(deps.db, deps.clock, principal),
  })
}
