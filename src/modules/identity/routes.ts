import { administratorsAmong, sessionExpiry } from '../../auth/administrators.ts'
import { readNewPasskey } from '../../auth/passkey.ts'
import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import type { App } from '../../http/app-type.ts'
import { isRequestOfOwnPage } from '../../http/authorize.ts'
import { accepted, created, ok, respondOnce } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Parts } from '../parts.ts'
import { EndedSession, UnlinkedIdentity } from './began-schema.ts'
import { unlinkIdentity } from './identities/link.ts'
import { listIdentities, pageIdentities, presentIdentity } from './identities/queries.ts'
import { endWithOrigins, findAffectedAccounts, type Root } from './origins.ts'
import {
  addPasskey,
  examineProof,
  pagePasskeys,
  presentPasskey,
  proveByPasskey,
  removePasskey,
  startPasskey,
  startProof,
} from './passkeys/service.ts'
import {
  CreatePasskey,
  EndQuery,
  Identity,
  LinkFlow,
  LinkIdentity,
  Passkey,
  PasskeyOptions,
  ProofOptions,
  Prove,
  Proven,
  Session,
} from './schema.ts'
import { endSession, pageSessions, presentSession } from './sessions/service.ts'
import { renewFlowCookie } from './sign-in/cookie.ts'
import { readLinkReturnTo, requireProvider, startLink } from './sign-in/flows.ts'
import { linkWallet } from './sign-in/service.ts'
import { examineForLink } from './sign-in/wallet.ts'

const path = '/v1/accounts/me/passkeys'

export const registerIdentities = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const concernedBy = async (principal: Principal, root: Root) => [
    ...(await deps.ownersRelyingOn(deps.db, principal.accountId)),
    ...(await findAffectedAccounts(deps.db, principal, root)),
  ]
  routes.list('/v1/accounts/me/identities', 'identities.list', {
    permission: 'account.read',
    summary: 'List sign-in methods',
    description: 'Returns the identities that are linked to the account.',
    querystring: PageQuery,
    response: { 200: pageOf(Identity) },
    owner: ({ principal }) => principal.accountId,
    read: (page, { principal }) => pageIdentities(deps.db, principal.accountId, page),
    present: (rows) => rows.map((row) => presentIdentity(row)),
  })
  routes.handle('POST', '/v1/accounts/me/identities', 'identities.link', {
    freshProof: 'by_content',
    permission: 'account.manage',
    idempotent: true,
    credentialIssuing: true,
    refuses: ['invalid_signature', 'forbidden', 'grant_frozen', 'provider_not_configured'],
    summary: 'Link a sign-in method',
    description:
      'A signed message links a wallet at once: 201, or 200 if it was already linked. Google and GitHub return 202 and a URL that the person opens in a browser. An identity belongs to one account (409 `conflict`).',
    body: LinkIdentity,
    response: { 200: Identity, 201: Identity, 202: LinkFlow },
    handler: async (request, reply) => {
      const { body, principal } = request
      if (body.provider !== 'wallet') {
        requireProvider(deps, body.provider)
        const isOwn = principal.credential.kind === 'session' && isRequestOfOwnPage(request, deps.config.publicUrl)
        const flowCookie = isOwn ? renewFlowCookie(request, reply, deps.config) : null
        const input = { provider: body.provider, returnTo: readLinkReturnTo(deps, body.return_to), flowCookie }
        return respondOnce(deps, request, reply, async (tx) => {
          // A new method needs fresh proof. A linked identity of the provider proves the session itself.
          const linked = await listIdentities(tx, { accountId: principal.accountId })
          if (!linked.some(({ provider }) => provider === body.provider)) requireFreshProof(principal, tx.at)
          // The page's address contains its secret.
          return accepted(await startLink(tx, deps, principal, input), ['authorization_url'])
        })
      }
      const verdict = await examineForLink(deps, principal, { ...body, intent: 'link' })
      return respondOnce(deps, request, reply, async (tx) => {
        const link = await linkWallet(tx, deps.config, principal, verdict)
        const identity = presentIdentity(link.identity)
        return link.outcome === 'linked' ? created(identity) : ok(identity)
      })
    },
  })
  routes.list(path, 'passkeys.list', {
    access: 'undelegated',
    summary: 'List passkeys',
    description: 'Returns the passkeys that the account can approve with. Passkeys cannot be used to sign in.',
    querystring: PageQuery,
    response: { 200: pageOf(Passkey) },
    owner: ({ principal }) => principal.accountId,
    read: (page, { principal }) => pagePasskeys(deps.db, principal.accountId, page),
    present: (rows) => rows.map((row) => presentPasskey(row)),
  })
  routes.ask(`${path}/options`, 'passkeys.prepare', {
    access: 'undelegated',
    credentialIssuing: true,
    summary: 'Start creating a passkey',
    description: 'Returns the options for `navigator.credentials.create()`. The challenge can be used once within ten minutes.',
    response: { 200: PasskeyOptions },
    read: ({ principal }) => startPasskey(deps, principal),
  })
  routes.post(path, 'passkeys.add', {
    freshProof: 'always',
    access: 'undelegated',
    idempotent: true,
    credentialIssuing: true,
    refuses: ['invalid_signature', 'account_frozen'],
    summary: 'Add a passkey',
    description:
      'Registers the passkey that the browser created. The authenticator must have verified its user. The passkey can then sign approvals: `POST /v1/approvals/:id/decide` with `passkey`.',
    body: CreatePasskey,
    response: { 201: Passkey },
    before: ({ body }) => readNewPasskey(deps.config, body.credential),
    work: async (tx, { principal, body }, read) => created(presentPasskey(await addPasskey(tx, principal, { ...body, read }))),
  })
  routes.ask('/v1/auth/proof/options', 'sessions.prepare_proof', {
    access: 'undelegated',
    whileFrozen: true,
    credentialIssuing: true,
    summary: 'Start step-up with a passkey',
    description:
      'Returns the options for `navigator.credentials.get()`. The challenge can be used once, in this session, within ten minutes.',
    response: { 200: ProofOptions },
    read: ({ principal }) => startProof(deps, principal),
  })
  routes.post('/v1/auth/proof', 'sessions.prove', {
    access: 'undelegated',
    whileFrozen: true,
    credentialIssuing: true,
    refuses: ['invalid_signature', 'step_up_required'],
    summary: 'Complete step-up with a passkey',
    description:
      'Confirms the identity of the person. For ten minutes, the session can do what requires step-up (403 `step_up_required`). Signing in again within the session has the same effect. A passkey or a method counts if the session began with it, or if it was added before the session began.',
    body: Prove,
    response: { 200: Proven },
    before: ({ principal, body }) => examineProof(deps, principal, body.passkey),
    work: async (tx, { principal }, examined) => {
      await proveByPasskey(tx, principal, examined)
      return ok({ proven_at: isoTime(tx.at) })
    },
  })
  routes.delete(`${path}/:id`, 'passkeys.remove', {
    // Allowed in a frozen account, because its owner may still lose a phone.
    freshProof: 'always',
    access: 'undelegated',
    whileFrozen: true,
    summary: 'Remove a passkey',
    description:
      'Removes the passkey. Its approvals of payments that are not sent yet no longer count (event `approval.decision_voided`).',
    params: byId('passkey'),
    response: { 200: Passkey },
    work: async (tx, { principal, params }) =>
      ok(presentPasskey(await removePasskey(tx, deps.onAuthorityLost, principal, params.id))),
    otherAccounts: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.list('/v1/accounts/me/sessions', 'sessions.list', {
    permission: 'account.manage',
    summary: 'List sessions',
    description: 'Returns the browsers in which the account is signed in.',
    querystring: PageQuery,
    response: { 200: pageOf(Session) },
    owner: ({ principal }) => principal.accountId,
    read: async (page, { principal }) => {
      await deps.lastUsed.flush()
      return pageSessions(deps.db, principal.accountId, page)
    },
    present: async (rows, { principal: { accountId, originSessionId } }, at) => {
      const isAdmin = (await administratorsAmong(deps.db, [accountId], deps.config.ADMIN_ACCOUNTS)).has(accountId)
      const expiring = rows.map((row) => ({ ...row, expiresAt: sessionExpiry(row, isAdmin) }))
      return expiring.map((row) => presentSession(row, deps.config, at, originSessionId))
    },
  })
  routes.delete('/v1/accounts/me/identities/:id', 'identities.unlink', {
    freshProof: 'always',
    permission: 'account.manage',
    refuses: ['forbidden', 'grant_frozen', 'last_identity'],
    summary: 'Unlink a sign-in method',
    description:
      'Unlinks the method, ends the sessions that it started, and lists everything added in them (`began_here`). If the method was stolen, `?end=everything` also ends everything in that list. The last method cannot be unlinked (409 `last_identity`).',
    params: byId('identity'),
    querystring: EndQuery,
    response: { 200: UnlinkedIdentity },
    work: async (tx, { principal, params: { id }, query: { end } }) => {
      const { ended, beganHere } = await endWithOrigins(tx, deps, principal, { kind: 'identity', id, end }, (within) =>
        unlinkIdentity(within, deps, principal, id),
      )
      return ok({ ...presentIdentity(ended), began_here: beganHere })
    },
    otherAccounts: ({ principal, params: { id }, query: { end } }) => concernedBy(principal, { kind: 'identity', id, end }),
  })
  routes.delete('/v1/accounts/me/sessions/:id', 'sessions.revoke', {
    freshProof: 'by_content',
    permission: 'account.manage',
    whileFrozen: true,
    refuses: ['forbidden', 'grant_frozen', 'last_identity'],
    summary: 'End a session',
    description:
      'Signs out one browser from its next request on, and lists everything added in the session (`began_here`). If the session was stolen, `?end=everything` also ends everything in that list.',
    params: byId('session'),
    querystring: EndQuery,
    response: { 200: EndedSession },
    work: async (tx, { principal, params: { id }, query: { end } }) => {
      const { ended, beganHere } = await endWithOrigins(tx, deps, principal, { kind: 'session', id, end }, (within) =>
        endSession(within, deps.config, principal, id),
      )
      return ok({ ...presentSession(ended, deps.config, tx.at, principal.originSessionId), began_here: beganHere })
    },
    otherAccounts: ({ principal, params: { id }, query: { end } }) => concernedBy(principal, { kind: 'session', id, end }),
  })
}
