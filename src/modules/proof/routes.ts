import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import type { Deps } from './deps.ts'
import { presentKeys } from './present.ts'
import { KeySet, LogQuery, SealedLog } from './schema.ts'
import { readSealedLog } from './service.ts'
import { listSigningKeys } from './signing-keys.ts'

/** What a stranger needs to check a receipt: the keys, and the sealed log's head. */
export const registerProof = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  app.get(
    '/.well-known/jwks.json',
    { config: { operation: 'proof.keys', access: 'public', query: 'lenient' }, schema: { response: { 200: KeySet } } },
    async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(presentKeys(await listSigningKeys(deps.db))),
  )
  routes.get('/.well-known/audit-log', {
    config: { operation: 'proof.log', access: 'public', refuses: ['invalid_request', 'not_found'] },
    schema: { querystring: LogQuery, response: { 200: SealedLog } },
    read: ({ query }) => readSealedLog(deps.db, deps.config, deps.receiptKeys, query.from),
  })
}
