import { readNewPasskey } from '../../../auth/passkey.ts'
import type { App } from '../../../http/app-type.ts'
import { created, ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Parts } from '../../parts.ts'
import { CreatePasskey, Passkey, PasskeyOptions, ProofOptions, Prove, Proven } from '../schema.ts'
import {
  addPasskey,
  examineProof,
  pagePasskeys,
  presentPasskey,
  proveByPasskey,
  removePasskey,
  startPasskey,
  startProof,
} from './service.ts'

const path = '/v1/accounts/me/passkeys'

export const registerPasskeys = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list(path, {
    config: { operation: 'passkeys.list', access: 'undelegated' },
    schema: {
      summary: 'List passkeys',
      description: 'What the account can approve with. Passkeys do not sign in.',
      querystring: PageQuery,
      response: { 200: pageOf(Passkey) },
    },
    of: ({ principal }) => principal.accountId,
    read: (page, { principal }) => pagePasskeys(deps.db, principal.accountId, page),
    present: (rows) => rows.map((row) => presentPasskey(row)),
  })
  app.post(
    `${path}/options`,
    {
      config: { operation: 'passkeys.prepare', access: 'undelegated', credentialIssuing: true },
      schema: {
        summary: 'Begin a passkey',
        description:
          'What a browser needs to create a passkey: the options for `navigator.credentials.create()`, with a challenge that can be used once, for ten minutes.',
        response: { 200: PasskeyOptions },
      },
    },
    async (request, reply) => reply.header('cache-control', 'no-store').send(await startPasskey(deps, request.principal)),
  )
  routes.post(path, {
    config: {
      operation: 'passkeys.add',
      freshProof: 'always',
      access: 'undelegated',
      idempotent: true,
      credentialIssuing: true,
      refuses: ['invalid_signature', 'forbidden', 'account_frozen'],
    },
    schema: {
      summary: 'Add a passkey',
      description:
        'Registers the passkey that the browser created. The authenticator must have verified its user. From then on approvals can be given with it: `POST /v1/approvals/:id/decide` with `passkey`.',
      body: CreatePasskey,
      response: { 201: Passkey },
    },
    // The library is loaded, and reads what the authenticator returned.
    before: ({ body }) => readNewPasskey(deps.config, body.credential),
    work: async (tx, { principal, body }, read) => created(presentPasskey(await addPasskey(tx, principal, { ...body, read }))),
  })
  app.post(
    '/v1/auth/proof/options',
    {
      config: { operation: 'sessions.prepare_proof', access: 'undelegated', whileFrozen: true, credentialIssuing: true },
      schema: {
        summary: 'Begin a proof by passkey',
        description:
          'What a browser needs to sign with a passkey: the options for `navigator.credentials.get()`, with a challenge that can be used once, in this session, for ten minutes.',
        response: { 200: ProofOptions },
      },
    },
    async (request, reply) => reply.header('cache-control', 'no-store').send(await startProof(deps, request.principal)),
  )
  routes.post('/v1/auth/proof', {
    config: {
      operation: 'sessions.prove',
      access: 'undelegated',
      whileFrozen: true,
      credentialIssuing: true,
      refuses: ['invalid_signature', 'step_up_required'],
    },
    schema: {
      summary: 'Prove a session by passkey',
      description:
        'Who holds the session is still its person: for ten minutes it may do again what needs a fresh proof (403 `step_up_required`). Signing in again with a method of the account, within the session, does the same. A passkey or a method counts if the session began with it, or if it was added before the session began.',
      body: Prove,
      response: { 200: Proven },
    },
    before: ({ principal, body }) => examineProof(deps, principal, body.passkey),
    work: async (tx, { principal }, examined) => {
      await proveByPasskey(tx, principal, examined)
      return ok({ proven_at: isoTime(tx.at) })
    },
  })
  routes.delete(`${path}/:id`, {
    // A frozen account may still lose a phone.
    config: { operation: 'passkeys.remove', freshProof: 'always', access: 'undelegated', whileFrozen: true },
    schema: {
      summary: 'Remove a passkey',
      description: 'Its approvals of payments that were not sent yet no longer count (event `approval.decision_voided`).',
      params: byId('passkey'),
      response: { 200: Passkey },
    },
    work: async (tx, { principal, params }) =>
      ok(presentPasskey(await removePasskey(tx, deps.onAuthorityLost, principal, params.id))),
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
