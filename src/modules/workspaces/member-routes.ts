import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Parts } from '../parts.ts'
import { acceptInvitation, createInvitation, previewInvitation, revokeInvitation } from './invitation-service.ts'
import { type EndDelegations, removeMember, updateMember } from './member-service.ts'
import { presentInvitation, presentMember, presentPreview, presentRemoved, presentWorkspaceView } from './present.ts'
import { accountOfMember, listInvitations, listMembers } from './queries.ts'
import {
  AcceptInvitation,
  CreateInvitation,
  Invitation,
  InvitationPreview,
  InvitationWithToken,
  Member,
  PreviewInvitation,
  UpdateMember,
  WorkspaceView,
} from './schema.ts'

export const registerMembers = (app: App, deps: Parts, endDelegations: EndDelegations): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/workspaces/current/members', {
    config: { operation: 'members.list', permission: 'workspace.read' },
    schema: {
      summary: 'List members',
      description: 'Who works in this workspace, with role and state.',
      querystring: PageQuery,
      response: { 200: pageOf(Member) },
    },
    read: (page, { principal }) => listMembers(deps.db, principal.workspace.id, page),
    present: (rows) => rows.map(presentMember),
  })
  routes.patch('/v1/workspaces/current/members/:id', {
    config: {
      operation: 'members.update',
      freshProof: 'by_content',
      permission: 'workspace.manage',
      refuses: ['forbidden', 'last_owner'],
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
      refuses: ['forbidden', 'account_frozen', 'last_owner'],
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

export const registerInvitations = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const show = (invitation: Parameters<typeof presentInvitation>[0]) => presentInvitation(invitation, deps.clock.now())

  routes.post('/v1/workspaces/current/invitations', {
    config: {
      operation: 'invitations.create',
      freshProof: 'always',
      permission: 'workspace.manage',
      access: 'undelegated',
      idempotent: true,
      refuses: ['forbidden'],
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
  routes.list('/v1/workspaces/current/invitations', {
    config: { operation: 'invitations.list', permission: 'workspace.manage' },
    schema: {
      summary: 'List invitations',
      description: 'Invitations of the workspace, with their state.',
      querystring: PageQuery,
      response: { 200: pageOf(Invitation) },
    },
    read: (page, { principal }) => listInvitations(deps.db, principal.workspace.id, page),
    present: (rows) => rows.map(show),
  })
  routes.delete('/v1/workspaces/current/invitations/:id', {
    config: { operation: 'invitations.revoke', permission: 'workspace.manage', whileFrozen: true, refuses: ['conflict'] },
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
        refuses: ['forbidden', 'conflict'],
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
      refuses: ['forbidden', 'account_frozen', 'workspace_frozen'],
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
