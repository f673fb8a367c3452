import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import type { Parts } from '../../parts.ts'
import { unlinkIdentity } from '../identities/link.ts'
import { presentIdentity } from '../identities/queries.ts'
import { endWithOrigins } from '../origins.ts'
import { EndedSession, EndQuery, Session, UnlinkedIdentity } from '../schema.ts'
import { pageSessions, presentSession } from './queries.ts'
import { endSession } from './service.ts'

export const registerSessions = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/accounts/me/sessions', {
    config: { operation: 'sessions.list', permission: 'account.manage' },
    schema: {
      summary: 'List sessions',
      description: 'The browsers in which the account is signed in.',
      querystring: PageQuery,
      response: { 200: pageOf(Session) },
    },
    of: ({ principal }) => principal.accountId,
    read: async (page, { principal }) => {
      await deps.lastUsed.flush()
      return pageSessions(deps.db, principal.accountId, page)
    },
    present: (rows, { principal }, at) => rows.map((row) => presentSession(row, deps.config, at, principal.credential.id)),
  })
}

/** The ends of a session and of a sign-in method, with what began there. */
export const registerEnds = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.delete('/v1/accounts/me/identities/:id', {
    config: {
      operation: 'identities.unlink',
      freshProof: 'always',
      permission: 'account.manage',
      refuses: ['forbidden', 'grant_frozen', 'last_identity'],
    },
    schema: {
      summary: 'Unlink a sign-in method',
      description:
        'Ends the sessions that it started, and lists what was added in them (`began_here`). If it was stolen, `?end=everything` ends all of that too. The last one stays (409 `last_identity`).',
      params: byId('identity'),
      querystring: EndQuery,
      response: { 200: UnlinkedIdentity },
    },
    work: async (tx, { principal, params: { id }, query: { end } }) => {
      const root = { kind: 'identity', id, end } as const
      const { ended, beganHere } = await endWithOrigins(tx, deps, principal, root, (within) =>
        unlinkIdentity(within, deps, principal, id),
      )
      return ok({ ...presentIdentity(ended), began_here: beganHere })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.delete('/v1/accounts/me/sessions/:id', {
    config: {
      operation: 'sessions.revoke',
      freshProof: 'by_content',
      permission: 'account.manage',
      whileFrozen: true,
      refuses: ['forbidden', 'grant_frozen', 'last_identity'],
    },
    schema: {
      summary: 'End a session',
      description:
        'Signs out one browser, with its next request, and lists what was added in it (`began_here`). If it was stolen, `?end=everything` ends all of that too.',
      params: byId('session'),
      querystring: EndQuery,
      response: { 200: EndedSession },
    },
    work: async (tx, { principal, params: { id }, query: { end } }) => {
      const root = { kind: 'session', id, end } as const
      const { ended, beganHere } = await endWithOrigins(tx, deps, principal, root, (within) =>
        endSession(within, deps.config, principal, id),
      )
      return ok({ ...presentSession(ended, deps.config, tx.at, principal.credential.id), began_here: beganHere })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
