import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { KeySet, LogQuery, SealedLog } from './schema.ts'
import { listSigningKeys, presentKeys, readSealedLog } from './service.ts'

export const registerProof = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.get('/.well-known/jwks.json', 'proof.keys', {
    access: 'public',
    query: 'lenient',
    summary: 'Retrieve the keys that sign receipts',
    description:
      'Returns a JSON Web Key Set (RFC 7517). Retired keys remain in the set with their end time, so that old receipts can be verified.',
    response: { 200: KeySet },
    cacheControl: 'public, max-age=300',
    read: async () => presentKeys(await listSigningKeys(deps.db)),
  })
  routes.get('/.well-known/audit-log', 'proof.log', {
    access: 'public',
    refuses: ['not_found'],
    summary: 'Retrieve the head of the sealed log',
    description:
      'Returns the head of the audit log, which is sealed in a Merkle tree (RFC 6962). Keep the heads that you receive. With the size of one as `from`, the answer proves that the log has only grown since.',
    querystring: LogQuery,
    response: { 200: SealedLog },
    read: ({ query }) => readSealedLog(deps.db, deps.config, deps.receiptKeys, query.from),
  })
}
