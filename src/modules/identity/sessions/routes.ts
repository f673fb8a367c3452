import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Deps } from '../deps.ts'
import { presentSession } from './present.ts'
import { examineProof, proveByPasskey, startProof } from './prove.ts'
import { pageSessions } from './queries.ts'
import { ProofOptions, Prove, Proven, Session } from './schema.ts'
import { endSession, viewFor } from './service.ts'

export const registerSessions = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/accounts/me/sessions', {
    config: { operation: 'sessions.list', permission: 'account.manage' },
    schema: { querystring: PageQuery, response: { 200: pageOf(Session) } },
    listing: async ({ principal }) => {
      await deps.lastUsed.flush()
      const { accountId, credential } = principal
      const view = viewFor(deps, credential.id)
      return {
        of: accountId,
        read: (page) => pageSessions(deps.db, accountId, page),
        present: (rows) => rows.map((row) => presentSession(row, view)),
      }
    },
  })
  app.post(
    '/v1/auth/proof/options',
    {
      config: { operation: 'sessions.prepare_proof', access: 'undelegated', whileFrozen: true, credentialIssuing: true },
      schema: { response: { 200: ProofOptions } },
    },
    async (request, reply) => reply.header('cache-control', 'no-store').send(await startProof(deps, request.principal)),
  )
  app.post(
    '/v1/auth/proof',
    {
      config: {
        operation: 'sessions.prove',
        access: 'undelegated',
        whileFrozen: true,
        credentialIssuing: true,
        refuses: ['invalid_request', 'invalid_signature', 'step_up_required'],
      },
      schema: { body: Prove, response: { 200: Proven } },
    },
    async (request, reply) => {
      const examined = await examineProof(deps, request.principal, request.body.passkey)
      return respondOnce(deps, request, reply, async (tx) => {
        await proveByPasskey(tx, request.principal, examined)
        return ok({ proven_at: isoTime(tx.at) })
      })
    },
  )
  routes.delete('/v1/accounts/me/sessions/:id', {
    config: {
      operation: 'sessions.revoke',
      permission: 'account.manage',
      whileFrozen: true,
      refuses: ['forbidden', 'grant_frozen', 'not_found'],
    },
    schema: { params: byId('session'), response: { 200: Session } },
    work: async (tx, { principal, params }) => {
      const session = await endSession(tx, deps, principal, params.id)
      return ok(presentSession(session, viewFor(deps, principal.credential.id)))
    },
  })
}
