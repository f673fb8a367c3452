import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { found } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { readOwn } from './own-list.ts'
import { viewGrant, viewGrants } from './present.ts'
import { findGrant, listGrants, scopeOf } from './queries.ts'
import { Grant, RevokeAll, UpdateGrant } from './schema.ts'
import { revokeAllGrants, revokeOwnGrant } from './service.ts'
import { updateGrant } from './update.ts'
import { viewOneGrant, viewTogether } from './view-together.ts'

export const registerGrants = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/accounts/me/grants', {
    config: { operation: 'grants.list', permission: 'grant.manage', refuses: ['invalid_request', 'invalid_cursor'] },
    schema: {
      summary: 'List grants',
      description: 'Everything that was delegated by the account: to API keys and to OAuth clients.',
      querystring: PageQuery,
      response: { 200: pageOf(Grant) },
    },
    read: (request) =>
      readOwn(deps, request, {
        read: (scope, page) => listGrants(deps.db, scope, page),
        idOf: (row) => row.id,
        present: (rows) => viewTogether(deps.db, deps.clock.now(), rows),
      }),
  })
  routes.post('/v1/accounts/me/grants/revoke-all', {
    config: { operation: 'grants.revoke_all', permission: 'grant.manage', whileFrozen: true, refuses: ['invalid_request'] },
    schema: {
      summary: 'Revoke all grants of a kind',
      description:
        'The emergency stop for everything that was delegated: all API keys, or all OAuth clients.\n\nRevokes every active grant of a kind at once, and returns them: `{"kind": "oauth"}` stops all agents.',
      body: RevokeAll,
      response: { 200: z.object({ data: z.array(Grant) }) },
    },
    work: async (tx, { principal, body }) => {
      const revoked = await revokeAllGrants(tx, deps.onGrantsRevoked, principal, body.kind)
      return ok({ data: await viewGrants(tx, tx.at, revoked) })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
  routes.get('/v1/accounts/me/grants/:id', {
    config: { operation: 'grants.get', permission: 'grant.manage', refuses: ['not_found'] },
    schema: {
      summary: 'Read a grant',
      description: 'Its permissions, controls, usage, and the headroom that it and the grants above it leave.',
      params: byId('grant'),
      response: { 200: Grant },
    },
    read: async ({ principal, params }) => {
      await deps.lastUsed.flush()
      const grant = found(await findGrant(deps.db, scopeOf(principal), params.id))
      return viewOneGrant(deps.db, deps.clock.now(), grant)
    },
  })
  routes.patch('/v1/accounts/me/grants/:id', {
    // A grant can be frozen while its workspace is frozen; the service then refuses new controls.
    config: {
      operation: 'grants.update',
      freshProof: 'by_content',
      permission: 'grant.manage',
      whileFrozen: true,
      refuses: ['invalid_request', 'not_found', 'conflict', 'account_frozen', 'workspace_frozen'],
    },
    schema: {
      summary: 'Change or freeze a grant',
      description:
        'Changes its controls, or freezes it with `{"frozen": true}`: it can still read, and cannot pay. Takes effect at once.',
      params: byId('grant'),
      body: UpdateGrant,
      response: { 200: Grant },
    },
    work: async (tx, { principal, params, body }) => {
      const { spending_controls: controls, frozen } = body
      const change = { ...(controls && { controls }), ...(frozen !== undefined && { frozen }) }
      return ok((await updateGrant(tx, principal, params.id, change)).view)
    },
  })
  routes.delete('/v1/accounts/me/grants/:id', {
    config: {
      operation: 'grants.revoke',
      permission: 'grant.manage',
      whileFrozen: true,
      refuses: ['not_found'],
    },
    schema: {
      summary: 'Revoke a grant',
      description: 'Ends it and everything that descends from it, at once: keys, access tokens and refresh tokens.',
      params: byId('grant'),
      response: { 200: Grant },
    },
    work: async (tx, { principal, params }) =>
      ok(await viewGrant(tx, tx.at, await revokeOwnGrant(tx, deps.onGrantsRevoked, principal, params.id))),
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}
