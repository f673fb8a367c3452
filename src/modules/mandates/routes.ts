import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../auth/principal.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/authenticate.ts'
import { checkPermission } from '../../http/authorize.ts'
import { created, ok, respondOnce } from '../../http/idempotency.ts'
import { pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { isoTime } from '../../lib/clock.ts'
import { found, Refusal } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { createMandate, prepareMandate, proveMandate, proveRevocation, revocationMessage } from './create.ts'
import { revokeByCredential, revokeBySignature } from './end.ts'
import { findMandate, mandateList, presentMandate } from './queries.ts'
import {
  CreateMandate,
  ListMandates,
  Mandate,
  PreparedMandate,
  PrepareMandate,
  RevocationMessage,
  RevokeMandate,
} from './schema.ts'

const path = '/v1/intent-mandates'
const one = `${path}/:id`

/** Without a signature, the credential must have the permission `mandate.manage`. */
const requireManager = (request: FastifyRequest): Principal => {
  if (!request.caller) throw new Refusal('authentication_required')
  checkPermission(request.caller, ['mandate.manage'])
  return request.caller
}

export const registerMandates = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.ask(`${path}/prepare`, 'mandates.prepare', {
    access: 'public',
    credentialIssuing: true,
    summary: 'Prepare a mandate',
    description:
      'Returns the readable text and the nonce for the wallet to sign. The terms are not stored, and no account is looked up.',
    body: PrepareMandate,
    response: { 200: PreparedMandate },
    cacheControl: 'no-store',
    read: async ({ body }) => {
      const { message, nonce, expiresAt } = await prepareMandate(deps, body)
      return { message, nonce, expires_at: isoTime(expiresAt) }
    },
  })
  routes.handle('POST', path, 'mandates.create', {
    access: 'public',
    credentialIssuing: true,
    refuses: ['invalid_signature', 'account_frozen', 'grant_frozen', 'workspace_frozen', 'not_found', 'conflict'],
    summary: 'Create a mandate by signature',
    description:
      'Creates a mandate, with which a wallet approves payments within its terms in advance. The wallet identifies the account. A payment that names the mandate and matches its terms has the approval of the signer; limits still apply. Repeating the request returns the same mandate.',
    body: CreateMandate,
    response: { 201: Mandate },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const proof = await proveMandate(deps, request.body)
      return respondOnce(deps, request, reply, async (tx) => {
        const result = await createMandate(tx, originOf(request), request.body, proof)
        if (result.replayed) reply.header('idempotency-replayed', 'true')
        return created(presentMandate(result.mandate, tx.at))
      })
    },
  })
  routes.list(path, 'mandates.list', {
    permission: 'mandate.read',
    summary: 'List mandates',
    description: 'Returns the mandates of the workspace, with the spent amount of each.',
    querystring: ListMandates,
    response: { 200: pageOf(Mandate) },
    read: (page, { principal, query: { status } }, at) =>
      deps.db.run(mandateList, { workspaceId: principal.workspace.id, status, at, ...page }),
    present: (rows, _request, at) => rows.map((row) => presentMandate(row, at)),
  })
  routes.get(one, 'mandates.get', {
    permission: 'mandate.read',
    summary: 'Retrieve a mandate',
    description: 'Returns the mandate with its terms, its signature and its usage.',
    params: byId('mandate'),
    response: { 200: Mandate },
    read: async ({ principal, params }) => {
      const mandate = found(await findMandate(deps.db, params.id, principal.workspace.id))
      return presentMandate(mandate, deps.clock.now())
    },
  })
  routes.get(`${one}/message`, 'mandates.revocation_message', {
    access: 'public',
    summary: 'Retrieve the text that revokes a mandate',
    description: 'Returns the text that the wallet must sign to revoke the mandate.',
    params: byId('mandate'),
    response: { 200: RevocationMessage },
    cacheControl: 'no-store',
    read: async ({ params }) => {
      const mandate = found(await findMandate(deps.db, params.id))
      return { message: revocationMessage(deps.config, mandate), expires_at: isoTime(mandate.expiresAt) }
    },
  })
  routes.handle('POST', `${one}/revoke`, 'mandates.revoke', {
    access: 'optional',
    whileFrozen: true,
    credentialIssuing: true,
    refuses: ['invalid_signature', 'forbidden', 'membership_suspended', 'conflict'],
    summary: 'Revoke a mandate',
    description:
      'Ends the mandate at once. Requires a credential with `mandate.manage`, or the signature of a wallet of the account in the body. Pending payments are decided without the mandate.',
    params: byId('mandate'),
    body: RevokeMandate,
    response: { 200: Mandate },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { params, body } = request
      const signature = body?.signature
      if (signature === undefined) {
        requireManager(request)
        // Again after the locks, because the caller may have lost the permission meanwhile.
        return respondOnce(deps, request, reply, async (tx) =>
          ok(presentMandate(await revokeByCredential(tx, deps.onAuthorityLost, requireManager(request), params.id), tx.at)),
        )
      }
      const record = found(await findMandate(deps.db, params.id))
      const signer = await proveRevocation(deps, record, { signature, address: body?.address })
      return respondOnce(deps, request, reply, async (tx) => {
        const signed = { origin: originOf(request), signer, signature }
        return ok(presentMandate(await revokeBySignature(tx, deps.onAuthorityLost, params.id, signed), tx.at))
      })
    },
  })
}
