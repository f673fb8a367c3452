import { z } from 'zod'
import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import { found } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { readOwn } from './own-list.ts'
import { viewGrant, viewGrants } from './present.ts'
import { findGrant, listGrants, scopeOf } from './queries.ts'
import { Grant, RevokeAll, UpdateGrant } from './schema.ts'
import { revokeAllGrants, revokeOwnGrant } from './service.ts'
import { updateGrant } from './update.ts'
import { viewOneGrant } from './view-one.ts'

export const registerGrants = (app: App, deps: Deps): void => {
  app.get(
    '/v1/accounts/me/grants',
    {
      config: { operation: 'grants.list', permission: 'grant.manage', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: PageQuery, response: { 200: pageOf(Grant) } },
    },
    async (request, reply) =>
      reply.send(
        await readOwn(deps, request, {
          read: (scope, page) => listGrants(deps.db, scope, page),
          idOf: (row) => row.id,
          present: (rows) => viewGrants(deps.db, deps.clock.now(), rows),
        }),
      ),
  )
  app.post(
    '/v1/accounts/me/grants/revoke-all',
    {
      config: { operation: 'grants.revoke_all', permission: 'grant.manage', whileFrozen: true, refuses: ['invalid_request'] },
      schema: {
        body: RevokeAll,
        response: { 200: z.object({ data: z.array(Grant) }) },
        description: 'Revokes every active grant of a kind at once, and returns them: `{"kind": "oauth"}` stops all agents.',
      },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) => {
          const revoked = await revokeAllGrants(tx, deps, request.principal, request.body.kind)
          return ok({ data: await viewGrants(tx, tx.at, revoked) })
        },
        () => deps.ownersRelyingOn(deps.db, request.principal.accountId),
      ),
  )
  app.get(
    '/v1/accounts/me/grants/:id',
    {
      config: { operation: 'grants.get', permission: 'grant.manage', refuses: ['not_found'] },
      schema: { params: byId('grant'), response: { 200: Grant } },
    },
    async (request, reply) => {
      await deps.lastUsed.flush()
      const grant = found(await findGrant(deps.db, scopeOf(request.principal), request.params.id))
      return reply.send(await viewOneGrant(deps.db, deps.clock.now(), grant))
    },
  )
  app.patch(
    '/v1/accounts/me/grants/:id',
    {
      // A grant can be frozen while its workspace is frozen; the service then refuses new controls.
      config: {
        operation: 'grants.update',
        sideBySide: true,
        permission: 'grant.manage',
        whileFrozen: true,
        refuses: ['invalid_request', 'not_found', 'conflict', 'account_frozen', 'workspace_frozen'],
      },
      schema: {
        params: byId('grant'),
        body: UpdateGrant,
        response: { 200: Grant },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { spending_controls: controls, frozen } = request.body
        const change = { ...(controls && { controls }), ...(frozen !== undefined && { frozen }) }
        return ok((await updateGrant(tx, deps, request.principal, request.params.id, change)).view)
      }),
  )
  app.delete(
    '/v1/accounts/me/grants/:id',
    {
      config: {
        operation: 'grants.revoke',
        sideBySide: true,
        permission: 'grant.manage',
        whileFrozen: true,
        refuses: ['not_found'],
      },
      schema: { params: byId('grant'), response: { 200: Grant } },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) => ok(await viewGrant(tx, tx.at, await revokeOwnGrant(tx, deps, request.principal, request.params.id))),
        () => deps.ownersRelyingOn(deps.db, request.principal.accountId),
      ),
  )
}
