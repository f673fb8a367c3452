import type { App } from '../../../http/app-type.ts'
import { created, ok } from '../../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentWorkspaceView } from '../present.ts'
import { WorkspaceView } from '../schema.ts'
import { presentInvitation, presentPreview } from './present.ts'
import { listInvitations } from './queries.ts'
import {
  AcceptInvitation,
  CreateInvitation,
  Invitation,
  InvitationPreview,
  InvitationWithToken,
  PreviewInvitation,
} from './schema.ts'
import { acceptInvitation, createInvitation, previewInvitation, revokeInvitation } from './service.ts'

export const registerInvitations = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  const show = (invitation: Parameters<typeof presentInvitation>[0]) => presentInvitation(invitation, deps.clock.now())

  routes.post('/v1/workspaces/current/invitations', {
    config: {
      operation: 'invitations.create',
      freshProof: 'always',
      permission: 'workspace.manage',
      access: 'undelegated',
      idempotent: true,
      refuses: ['invalid_request', 'forbidden', 'conflict'],
    },
    schema: {
      summary: 'Invite a member',
      description:
        'Makes a one-time token, shown in this answer only. Addressed to an e-mail or a wallet, only an account that has it can accept.',
      body: CreateInvitation,
      response: { 201: InvitationWithToken },
    },
    work: async (tx, { principal, body }) => {
      const { invitation, token } = await createInvitation(tx, principal, body)
      return created({ ...show(invitation), token }, ['token'])
    },
  })
  list('/v1/workspaces/current/invitations', {
    config: { operation: 'invitations.list', permission: 'workspace.manage' },
    schema: {
      summary: 'List invitations',
      description: 'Invitations of the workspace, with their state.',
      querystring: PageQuery,
      response: { 200: pageOf(Invitation) },
    },
    listing: ({ principal }) => {
      const { id } = principal.workspace
      return {
        of: id,
        read: (page) => listInvitations(deps.db, id, page),
        present: (rows) => rows.map(show),
      }
    },
  })
  routes.delete('/v1/workspaces/current/invitations/:id', {
    config: {
      operation: 'invitations.revoke',
      permission: 'workspace.manage',
      whileFrozen: true,
      refuses: ['not_found', 'conflict'],
    },
    schema: {
      summary: 'Revoke an invitation',
      description: 'Its token stops working. Doing it again gives the same answer.',
      params: byId('invitation'),
      response: { 200: Invitation },
    },
    work: async (tx, { principal, params }) => ok(show(await revokeInvitation(tx, principal, params.id))),
  })
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
        summary: 'Preview an invitation',
        description: 'Whose workspace it is for and with which role, before it is accepted.',
        body: PreviewInvitation,
        response: { 200: InvitationPreview },
      },
    },
    async (request, reply) => {
      const previewed = await previewInvitation(deps.db, deps.clock, request.principal, request.body.token)
      return reply.send(presentPreview(previewed, deps.clock.now()))
    },
  )
  routes.post('/v1/workspaces/invitations/accept', {
    config: {
      operation: 'invitations.accept',
      access: 'undelegated',
      idempotent: true,
      refuses: ['invalid_request', 'forbidden', 'account_frozen', 'workspace_frozen', 'not_found', 'conflict'],
    },
    schema: {
      summary: 'Accept an invitation',
      description: 'Makes the account of the caller a member. Again by the same account: the same answer.',
      body: AcceptInvitation,
      response: { 200: WorkspaceView },
    },
    work: async (tx, { principal, body }) => {
      const { workspace, member } = await acceptInvitation(tx, principal, body.token)
      return ok(presentWorkspaceView(workspace, member, deps.config.CURRENCY))
    },
  })
}
