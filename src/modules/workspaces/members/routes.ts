import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentMember, presentRemoved } from './present.ts'
import { accountOfMember, listMembers } from './queries.ts'
import { Member, UpdateMember } from './schema.ts'
import { type EndDelegations, removeMember, updateMember } from './service.ts'

export const registerMembers = (app: App, deps: Deps, endDelegations: EndDelegations): void => {
  app.get(
    '/v1/workspaces/current/members',
    {
      config: { operation: 'members.list', permission: 'workspace.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: PageQuery, response: { 200: pageOf(Member) } },
    },
    async (request, reply) => {
      const { id } = request.principal.workspace
      return reply.send(
        await readPage(deps, request, {
          of: id,
          read: (page) => listMembers(deps.db, id, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentMember),
        }),
      )
    },
  )
  app.patch(
    '/v1/workspaces/current/members/:id',
    {
      config: {
        operation: 'members.update',
        permission: 'workspace.manage',
        refuses: ['invalid_request', 'forbidden', 'not_found', 'last_owner'],
      },
      schema: {
        params: byId('member'),
        body: UpdateMember,
        response: { 200: Member },
      },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) => ok(presentMember(await updateMember(tx, deps, request.principal, request.params.id, request.body))),
        () => accountOfMember(deps.db, request.principal.workspace.id, request.params.id),
      ),
  )
  app.delete(
    '/v1/workspaces/current/members/:id',
    {
      // A member who may read the workspace may leave it; the service asks for more to remove another member.
      config: {
        operation: 'members.remove',
        permission: ['workspace.manage', 'workspace.read'],
        whileFrozen: true,
        refuses: ['forbidden', 'account_frozen', 'not_found', 'last_owner'],
      },
      schema: {
        description: 'One’s own membership: leaves the workspace. Grants that the member made in it are revoked.',
        params: byId('member'),
        response: { 200: Member },
      },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) => ok(presentRemoved(await removeMember(tx, deps, request.principal, request.params.id, endDelegations))),
        () => accountOfMember(deps.db, request.principal.workspace.id, request.params.id),
      ),
  )
}
