import type { App } from '../../../http/app-type.ts'
import { created, ok, respondOnce } from '../../../http/idempotency.ts'
import { PageQuery, pageOf, readPage } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentWorkspaceView } from '../present.ts'
import { WorkspaceView } from '../schema.ts'
import { presentInvitation, presentPreview } from './present.ts'
import { listInvitations } from './queries.ts'
import { AcceptInvitation, CreateInvitation, Invitation, InvitationPreview, InvitationWithToken } from './schema.ts'
import { acceptInvitation, createInvitation, previewInvitation, revokeInvitation } from './service.ts'

export const registerInvitations = (app: App, deps: Deps): void => {
  const show = (invitation: Parameters<typeof presentInvitation>[0]) => presentInvitation(invitation, deps.clock.now())

  app.post(
    '/v1/workspaces/current/invitations',
    {
      config: {
        operation: 'invitations.create',
        permission: 'workspace.manage',
        access: 'undelegated',
        idempotent: true,
        refuses: ['invalid_request', 'forbidden', 'conflict'],
      },
      schema: {
        body: CreateInvitation,
        response: { 201: InvitationWithToken },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { invitation, token } = await createInvitation(tx, deps, request.principal, request.body)
        return created({ ...show(invitation), token }, ['token'])
      }),
  )
  app.get(
    '/v1/workspaces/current/invitations',
    {
      config: { operation: 'invitations.list', permission: 'workspace.manage', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: PageQuery, response: { 200: pageOf(Invitation) } },
    },
    async (request, reply) => {
      const { id } = request.principal.workspace
      return reply.send(
        await readPage(deps, request, {
          of: id,
          read: (page) => listInvitations(deps.db, id, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(show),
        }),
      )
    },
  )
  app.delete(
    '/v1/workspaces/current/invitations/:id',
    {
      config: {
        operation: 'invitations.revoke',
        permission: 'workspace.manage',
        whileFrozen: true,
        refuses: ['not_found', 'conflict'],
      },
      schema: { params: byId('invitation'), response: { 200: Invitation } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => ok(show(await revokeInvitation(tx, request.principal, request.params.id)))),
  )
  app.post(
    '/v1/workspaces/invitations/preview',
    {
      config: {
        operation: 'invitations.preview',
        access: 'undelegated',
        whileFrozen: true,
        changesNothing: true,
        refuses: ['invalid_request', 'forbidden', 'not_found', 'conflict'],
      },
      schema: {
        body: AcceptInvitation,
        response: { 200: InvitationPreview },
      },
    },
    async (request, reply) => {
      const previewed = await previewInvitation(deps, request.principal, request.body.token)
      return reply.send(presentPreview(previewed, deps.clock.now()))
    },
  )
  app.post(
    '/v1/workspaces/invitations/accept',
    {
      config: {
        operation: 'invitations.accept',
        access: 'undelegated',
        idempotent: true,
        refuses: ['invalid_request', 'forbidden', 'account_frozen', 'workspace_frozen', 'not_found', 'conflict'],
      },
      schema: {
        body: AcceptInvitation,
        response: {
          200: WorkspaceView,
        },
      },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const { workspace, member } = await acceptInvitation(tx, deps, request.principal, request.body.token)
        return ok(presentWorkspaceView(workspace, member, deps.config.CURRENCY))
      }),
  )
}
