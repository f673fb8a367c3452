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

/** Without a signature the credential needs the permission. */
const requireManager = (request: FastifyRequest): Principal => {
  if (!request.caller) throw new Refusal('authentication_required')
  checkPermission(request.caller, ['mandate.manage'])
  return request.caller
}

export const registerMandates = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  app.post(
    `${path}/prepare`,
    {
      config: { operation: 'mandates.prepare', access: 'public', credentialIssuing: true },
      schema: {
        summary: 'Get the text of a mandate to sign',
        description:
          'Turns terms into the readable text and the nonce that the wallet signs. Nothing is stored about the terms, and no account is looked up.',
        body: PrepareMandate,
        response: { 200: PreparedMandate },
      },
    },
    async (request, reply) => {
      const { message, nonce, expiresAt } = await prepareMandate(deps, request.body)
      return reply.header('cache-control', 'no-store').send({ message, nonce, expires_at: isoTime(expiresAt) })
    },
  )
  app.post(
    path,
    {
      config: {
        operation: 'mandates.create',
        access: 'public',
        credentialIssuing: true,
        refuses: ['invalid_signature', 'account_frozen', 'workspace_frozen', 'not_found', 'conflict'],
      },
      schema: {
        summary: 'Create a mandate by signature',
        description:
          'A wallet approves payments within these terms in advance. The account is found by the wallet. A payment that names the mandate and fits it has the approval of its signer; limits still apply. The same request again gives the same mandate.',
        body: CreateMandate,
        response: { 201: Mandate },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const proof = await proveMandate(deps, request.body)
      return respondOnce(deps, request, reply, async (tx) => {
        const result = await createMandate(tx, originOf(request), request.body, proof)
        if (result.replayed) reply.header('idempotency-replayed', 'true')
        return created(presentMandate(result.mandate, tx.at))
      })
    },
  )
  routes.list(path, 'mandates.list', {
    permission: 'mandate.read',
    summary: 'List mandates',
    description: 'The mandates of the workspace, with what has been spent of each.',
    querystring: ListMandates,
    response: { 200: pageOf(Mandate) },
    read: (page, { principal, query: { status } }, at) =>
      deps.db.run(mandateList, { workspaceId: principal.workspace.id, status, at, ...page }),
    present: (rows, _request, at) => rows.map((row) => presentMandate(row, at)),
  })
  routes.get(one, 'mandates.get', {
    permission: 'mandate.read',
    summary: 'Read a mandate',
    description: 'Its terms, its signature, and how much of it is left.',
    params: byId('mandate'),
    response: { 200: Mandate },
    read: async ({ principal, params }) => {
      const mandate = found(await findMandate(deps.db, params.id, principal.workspace.id))
      return presentMandate(mandate, deps.clock.now())
    },
  })
  app.get(
    `${one}/message`,
    {
      config: { operation: 'mandates.revocation_message', access: 'public' },
      schema: {
        summary: 'Get the text that revokes a mandate',
        description:
          'The text that the wallet must sign to revoke the mandate.\n\nThe text to sign in order to revoke the mandate by signature.',
        params: byId('mandate'),
        response: { 200: RevocationMessage },
      },
    },
    async (request, reply) => {
      const mandate = found(await findMandate(deps.db, request.params.id))
      const message = revocationMessage(deps.config, mandate)
      return reply.header('cache-control', 'no-store').send({ message, expires_at: isoTime(mandate.expiresAt) })
    },
  )
  app.post(
    `${one}/revoke`,
    {
      config: {
        operation: 'mandates.revoke',
        access: 'optional',
        whileFrozen: true,
        credentialIssuing: true,
        refuses: ['invalid_signature', 'forbidden', 'membership_suspended', 'conflict'],
      },
      schema: {
        summary: 'Revoke a mandate',
        description:
          'Ends the mandate at once: with a credential that has `mandate.manage`, or without a credential by the signature of a wallet of the account. Payments that wait for approval are decided without it.\n\nBy a wallet signature in the body, or by a credential with `mandate.manage`.',
        params: byId('mandate'),
        body: RevokeMandate,
        response: { 200: Mandate },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { params, body } = request
      const signature = body?.signature
      if (signature === undefined) {
        const manager = requireManager(request)
        return respondOnce(deps, request, reply, async (tx) =>
          ok(presentMandate(await revokeByCredential(tx, deps.onAuthorityLost, manager, params.id), tx.at)),
        )
      }
      const record = found(await findMandate(deps.db, params.id))
      const signer = await proveRevocation(deps, record, { signature, address: body?.address })
      return respondOnce(deps, request, reply, async (tx) => {
        const signed = { origin: originOf(request), signer, signature }
        return ok(presentMandate(await revokeBySignature(tx, deps.onAuthorityLost, params.id, signed), tx.at))
      })
    },
  )
}
