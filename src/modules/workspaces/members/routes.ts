import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentMember, presentRemoved } from './present.ts'
import { accountOfMember, listMembers } from './queries.ts'
import { Member, UpdateMember } from './schema.ts'
import { type EndDelegations, removeMember, updateMember } from './service.ts'

export const registerMembers = (app: App, deps: Deps, endDelegations: EndDelegations): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/workspaces/current/members', {
    config: { operation: 'members.list', permission: 'workspace.read' },
    schema: {
      summary: 'List members',
      description: 'Who works in this workspace, with role and state.',
      querystring: PageQuery,
      response: { 200: pageOf(Member) },
    },
    listing: ({ principal }) => {
      const { id } = principal.workspace
      return {
        of: id,
        read: (page) => listMembers(deps.db, id, page),
        present: (rows) => rows.map(presentMember),
      }
    },
  })
  routes.patch('/v1/workspaces/current/members/:id', {
    config: {
      operation: 'members.update',
      freshProof: 'by_content',
      permission: 'workspace.manage',
      refuses: ['invalid_request', 'forbidden', 'not_found', 'last_owner'],
    },
    schema: {
      summary: 'Change a member',
      description:
        'Gives another role, or suspends and reinstates. The last owner and the owning account stay owners (409 `last_owner`).',
      params: byId('member'),
      body: UpdateMember,
      response: { 200: Member },
    },
    work: async (tx, { principal, params, body }) => ok(presentMember(await updateMember(tx, deps, principal, params.id, body))),
    concerned: ({ principal, params }) => accountOfMember(deps.db, principal.workspace.id, params.id),
  })
  routes.delete('/v1/workspaces/current/members/:id', {
    // A member who may read the workspace may leave it; the service asks for more to remove another member.
    config: {
      operation: 'members.remove',
      permission: ['workspace.manage', 'workspace.read'],
      whileFrozen: true,
      refuses: ['forbidden', 'account_frozen', 'not_found', 'last_owner'],
    },
    schema: {
      summary: 'Remove a member',
      description:
        'Ends the membership and every grant that the member has given in this workspace.\n\nOne’s own membership: leaves the workspace. Grants that the member made in it are revoked.',
      params: byId('member'),
      response: { 200: Member },
    },
    work: async (tx, { principal, params }) =>
      ok(presentRemoved(await removeMember(tx, deps, principal, params.id, endDelegations))),
    concerned: ({ principal, params }) => accountOfMember(deps.db, principal.workspace.id, params.id),
  })
}
