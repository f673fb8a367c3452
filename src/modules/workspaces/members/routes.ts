import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../../deps.ts'
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
      const list = `members:${id}`
      const rows = await listMembers(deps.db, id, deps.cursors.read(list, request.query))
      return reply.send(deps.cursors.page(list, request.query, rows, (row) => row.id, presentMember))
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
      // Whoever may read the workspace may leave it; the service asks for more when it is somebody else who is put out.
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
