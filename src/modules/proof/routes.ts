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
    summary: 'Read the keys that sign receipts',
    description:
      'A JSON Web Key Set (RFC 7517). Retired keys stay in it with the time of their end, so that old receipts can be checked.',
    response: { 200: KeySet },
    cacheControl: 'public, max-age=300',
    read: async () => presentKeys(await listSigningKeys(deps.db)),
  })
  routes.get('/.well-known/audit-log', 'proof.log', {
    access: 'public',
    refuses: ['not_found'],
    summary: 'Read the head of the sealed log',
    description:
      'The audit log is sealed in a Merkle tree (RFC 6962). Keep a head that you have seen: with its size as `from` the answer proves that the log has only grown since.',
    querystring: LogQuery,
    response: { 200: SealedLog },
    read: ({ query }) => readSealedLog(deps.db, deps.config, deps.receiptKeys, query.from),
  })
}
