import { maySeeBalance, type Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { getBalance } from '../../ledger/ledger.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import type { OpenHolder } from '../ports.ts'
import { acceptInvitation, createInvitation, previewInvitation, revokeInvitation } from './invitation-service.ts'
import { type EndDelegations, removeMember, updateMember } from './member-service.ts'
import { presentInvitation, presentMember, presentRemoved, presentWorkspace, presentWorkspaceView, withState } from './present.ts'
import {
  accountOfMember,
  listInvitations,
  memberList,
  membershipList,
  type WorkspaceMembership,
  type WorkspaceRecord,
} from './queries.ts'
import {
  AcceptInvitation,
  CreateInvitation,
  CreateWorkspace,
  FreezeWorkspace,
  Invitation,
  InvitationPreview,
  InvitationWithToken,
  Member,
  PreviewInvitation,
  ReinstateWorkspace,
  SuspendWorkspace,
  SwitchWorkspace,
  UpdateMember,
  UpdateWorkspace,
  Workspace,
  WorkspaceView,
} from './schema.ts'
import {
  createWorkspace,
  freezeWorkspace,
  reinstateWorkspace,
  suspendWorkspace,
  switchWorkspace,
  unfreezeWorkspace,
  updateWorkspace,
} from './service.ts'
import { viewMembership, viewMemberships } from './view-service.ts'

export const registerWorkspaces = (
  app: App,
  deps: Parts,
  { endDelegations, openHolder }: { endDelegations: EndDelegations; openHolder: OpenHolder },
): void => {
  const routes = routesOf(app, deps)
  const { CURRENCY: currency } = deps.config
  const view = (tx: Tx, { principal }: { principal: Principal }, membership: WorkspaceMembership) =>
    viewMembership(tx, currency, principal, membership)
  const show = (invitation: Parameters<typeof presentInvitation>[0]) => presentInvitation(invitation, deps.clock.now())

  routes.list('/v1/workspaces', 'workspaces.list', {
    permission: 'workspace.read',
    whileNotAdmitted: true,
    summary: 'List your workspaces',
    description: 'Returns all workspaces of the account, with its role in each.',
    querystring: PageQuery,
    response: { 200: pageOf(WorkspaceView) },
    owner: ({ principal }) => principal.accountId,
    read: (page, { principal: { accountId, grant, workspace } }) =>
      deps.db.run(membershipList, { accountId, workspaceId: grant && workspace.id, ...page }),
    idOf: (row) => row.workspace.id,
    present: (rows, { principal }) => viewMemberships(deps.db, currency, principal, rows),
  })
  routes.post('/v1/workspaces', 'workspaces.create', {
    permission: 'workspace.manage',
    idempotent: true,
    summary: 'Create a workspace',
    description:
      'Creates a team workspace with its own, empty balance. Top it up before its first payment. The creator remains the owning account, but has no claim to the money.',
    body: CreateWorkspace,
    response: { 201: WorkspaceView },
    work: async (tx, request) =>
      created(await view(tx, request, await createWorkspace(tx, deps.config, openHolder, request.principal, request.body))),
  })
  routes.get('/v1/workspaces/current', 'workspaces.current', {
    access: 'authenticated',
    whileNotAdmitted: true,
    refuses: ['forbidden'],
    summary: 'Retrieve the current workspace',
    description:
      'Returns the workspace of the credential and the role of the caller. A caller without a grant can select another of its workspaces with the `Workspace-Id` header, for this or any other request.',
    response: { 200: WorkspaceView },
    read: async ({ principal }) => {
      const { workspace, role, memberStatus: status } = principal
      if (!role || !status)
        throw new Refusal('forbidden', { message: 'This account is no longer a member of the workspace: choose another one.' })
      if (principal.memberId !== null && principal.grant === null)
        deps.lastUsed.record('members', principal.memberId, deps.clock.now(), null)
      const balance = maySeeBalance(principal) ? await getBalance(deps.db, workspace.balanceAccountId) : null
      return presentWorkspaceView({ workspace, role, status, balance }, currency)
    },
  })
  routes.put('/v1/workspaces/current', 'workspaces.switch', {
    access: 'undelegated',
    whileFrozen: true,
    whileNotAdmitted: true,
    refuses: ['forbidden', 'membership_suspended'],
    summary: 'Switch to another workspace',
    description: 'Only for sessions and dashboard tokens. A grant is bound to its workspace.',
    body: SwitchWorkspace,
    response: { 200: WorkspaceView },
    work: async (tx, request) =>
      ok(await view(tx, request, await switchWorkspace(tx, request.principal, request.body.workspace_id))),
  })
  routes.patch('/v1/workspaces/current', 'workspaces.update', {
    freshProof: 'by_content',
    permission: 'workspace.manage',
    summary: 'Update the workspace',
    description:
      'Changes the name or the time zone of the workspace. The time zone decides when a day and a month begin; a new one applies from the next local month.',
    body: UpdateWorkspace,
    response: { 200: WorkspaceView },
    work: async (tx, request) =>
      ok(await view(tx, request, await updateWorkspace(tx, deps.config, request.principal, request.body))),
  })
  routes.post('/v1/workspaces/current/freeze', 'workspaces.freeze', {
    permission: 'workspace.manage',
    whileFrozen: true,
    summary: 'Freeze the workspace',
    description:
      'Stops all payments and changes until the workspace is unfrozen. Revoking, archiving, rejecting and cancelling remain possible, and payments in progress finish.',
    body: FreezeWorkspace,
    response: { 200: WorkspaceView },
    work: async (tx, request) =>
      ok(await view(tx, request, await freezeWorkspace(tx, deps.config, request.principal, request.body.reason))),
  })
  routes.post('/v1/workspaces/current/unfreeze', 'workspaces.unfreeze', {
    freshProof: 'always',
    permission: 'workspace.manage',
    access: 'undelegated',
    whileFrozen: true,
    refuses: ['forbidden', 'account_frozen', 'workspace_frozen'],
    summary: 'Unfreeze the workspace',
    description: 'Ends the freeze, so that payments and changes are possible again.',
    response: { 200: WorkspaceView },
    work: async (tx, request) => ok(await view(tx, request, await unfreezeWorkspace(tx, deps.config, request.principal))),
  })
  routes.list('/v1/workspaces/current/members', 'members.list', {
    permission: 'workspace.read',
    summary: 'List members',
    description: 'Returns the members of the workspace, with role and status.',
    querystring: PageQuery,
    response: { 200: pageOf(Member) },
    read: (page, { principal }) => deps.db.run(memberList, { workspaceId: principal.workspace.id, ...page }),
    present: (rows) => rows.map(presentMember),
  })
  routes.patch('/v1/workspaces/current/members/:id', 'members.update', {
    freshProof: 'by_content',
    permission: 'workspace.manage',
    refuses: ['forbidden', 'last_owner'],
    summary: 'Update a member',
    description:
      'Changes the role of a member, or suspends or reinstates the member. The last owner and the owning account always remain owners (409 `last_owner`).',
    params: byId('member'),
    body: UpdateMember,
    response: { 200: Member },
    work: async (tx, { principal, params, body }) => ok(presentMember(await updateMember(tx, deps, principal, params.id, body))),
    otherAccounts: ({ principal, params }) => accountOfMember(deps.db, principal.workspace.id, params.id),
  })
  routes.delete('/v1/workspaces/current/members/:id', 'members.remove', {
    // Any member who may read the workspace may leave it; removing another member needs more, which the service checks.
    freshProof: 'by_content',
    permission: ['workspace.manage', 'workspace.read'],
    whileFrozen: true,
    refuses: ['forbidden', 'account_frozen', 'last_owner'],
    summary: 'Remove a member',
    description:
      'Ends the membership and revokes every grant that the member made in this workspace. Members can remove themselves to leave the workspace.',
    params: byId('member'),
    response: { 200: Member },
    work: async (tx, { principal, params }) =>
      ok(presentRemoved(await removeMember(tx, deps, principal, params.id, endDelegations))),
    otherAccounts: async ({ principal, params }) => {
      const [accountId] = await accountOfMember(deps.db, principal.workspace.id, params.id)
      return accountId ? [accountId, ...(await deps.ownersRelyingOn(deps.db, accountId))] : []
    },
  })
  routes.post('/v1/workspaces/current/invitations', 'invitations.create', {
    freshProof: 'always',
    permission: 'workspace.manage',
    access: 'undelegated',
    idempotent: true,
    refuses: ['forbidden'],
    summary: 'Invite a member',
    description:
      'Creates a one-time token, which is shown only once. If the invitation names an email or a wallet, only an account with that email or wallet can accept it. An invitation to an email address is mailed to it once. In 24 hours, a workspace can create 200 invitations, three of them to the same email address. Revoked ones count too (409 `conflict`, reason `limit_reached`).',
    body: CreateInvitation,
    response: { 201: InvitationWithToken },
    work: async (tx, { principal, body }) => {
      const { invitation, token } = await createInvitation(tx, deps, principal, body)
      return created({ ...show(invitation), token }, ['token'])
    },
  })
  routes.list('/v1/workspaces/current/invitations', 'invitations.list', {
    permission: 'workspace.manage',
    summary: 'List invitations',
    description: 'Returns the invitations of the workspace, with their status.',
    querystring: PageQuery,
    response: { 200: pageOf(Invitation) },
    read: (page, { principal }) => listInvitations(deps.db, principal.workspace.id, page),
    present: (rows) => rows.map(show),
  })
  routes.delete('/v1/workspaces/current/invitations/:id', 'invitations.revoke', {
    permission: 'workspace.manage',
    whileFrozen: true,
    refuses: ['conflict'],
    summary: 'Revoke an invitation',
    description: 'Ends the invitation, so that its token stops working. Repeating the request returns the same answer.',
    params: byId('invitation'),
    response: { 200: Invitation },
    work: async (tx, { principal, params }) => ok(show(await revokeInvitation(tx, principal, params.id))),
  })
  routes.ask('/v1/workspaces/invitations/preview', 'invitations.preview', {
    // A membership belongs to a person: a delegated credential can neither accept an invitation nor see one.
    access: 'undelegated',
    whileFrozen: true,
    changesNothing: true,
    refuses: ['forbidden', 'conflict'],
    summary: 'Preview an invitation',
    description: 'Returns the workspace and the role of an invitation before it is accepted.',
    body: PreviewInvitation,
    response: { 200: InvitationPreview },
    read: ({ principal, body }) => previewInvitation(deps.db, deps.clock, principal, body.token),
  })
  routes.post('/v1/workspaces/invitations/accept', 'invitations.accept', {
    access: 'undelegated',
    idempotent: true,
    refuses: ['forbidden', 'account_frozen', 'workspace_frozen'],
    summary: 'Accept an invitation',
    description: 'Makes the account of the caller a member. Repeating the request returns the same answer.',
    body: AcceptInvitation,
    response: { 200: WorkspaceView },
    work: async (tx, request) => ok(await view(tx, request, await acceptInvitation(tx, request.principal, request.body.token))),
  })
}

export const registerAdminWorkspaces = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  const view = (workspace: WorkspaceRecord) => presentWorkspace(withState(workspace), deps.config.CURRENCY)
  routes.post('/v1/admin/workspaces/:id/suspend', 'admin.suspend_workspace', {
    summary: 'Suspend a workspace',
    description: 'Freezes the workspace. Only an administrator can end the suspension.',
    params: byId('workspace'),
    body: SuspendWorkspace,
    response: { 200: Workspace },
    work: async (tx, { principal, params, body }) =>
      ok(view(await suspendWorkspace(tx, deps, principal, params.id, body.reason))),
  })
  routes.post('/v1/admin/workspaces/:id/reinstate', 'admin.reinstate_workspace', {
    refuses: ['separation_of_duties'],
    summary: 'Reinstate a workspace',
    description: 'Ends the suspension of the workspace.',
    params: byId('workspace'),
    body: ReinstateWorkspace,
    response: { 200: Workspace },
    work: async (tx, { principal, params, body }) =>
      ok(view(await reinstateWorkspace(tx, deps, principal, params.id, body.reason))),
  })
}
