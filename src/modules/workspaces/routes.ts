import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { presentCurrent, presentWorkspace, presentWorkspaceView } from './present.ts'
import { listMemberships, type WorkspaceMembership } from './queries.ts'
import {
  CreateWorkspace,
  FreezeWorkspace,
  ReinstateWorkspace,
  SuspendWorkspace,
  SwitchWorkspace,
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

export const registerWorkspaces = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const view = ({ workspace, member }: WorkspaceMembership) => presentWorkspaceView(workspace, member, deps.config.CURRENCY)

  routes.list('/v1/workspaces', {
    config: { operation: 'workspaces.list', permission: 'workspace.read', whileNotAdmitted: true },
    schema: {
      summary: 'List your workspaces',
      description: 'Every workspace that the account is a member of, with its role there.',
      querystring: PageQuery,
      response: { 200: pageOf(WorkspaceView) },
    },
    of: ({ principal }) => principal.accountId,
    read: (page, { principal: { accountId, grant, workspace } }) =>
      listMemberships(deps.db, accountId, grant && workspace.id, page),
    idOf: (row) => row.workspace.id,
    present: (rows) => rows.map(view),
  })
  routes.post('/v1/workspaces', {
    config: { operation: 'workspaces.create', permission: 'workspace.manage', idempotent: true },
    schema: {
      summary: 'Create a workspace',
      description:
        'A workspace for a team. Its payments draw on the balance of the account that creates it, which stays its owning account.',
      body: CreateWorkspace,
      response: { 201: WorkspaceView },
    },
    work: async (tx, { principal, body }) => created(view(await createWorkspace(tx, deps.config, principal, body))),
  })
  routes.get('/v1/workspaces/current', {
    config: { operation: 'workspaces.current', access: 'authenticated', whileNotAdmitted: true, refuses: ['forbidden'] },
    schema: {
      summary: 'Read the current workspace',
      description:
        'The workspace that this credential works in, and the role of the caller. A caller without a grant may name another one with `Workspace-Id`.\n\nA caller without a grant may name another of its workspaces for one request by the header `Workspace-Id`, here and everywhere.',
      response: { 200: WorkspaceView },
    },
    read: async ({ principal }) => {
      const current = presentCurrent(principal, deps.config.CURRENCY)
      if (!current)
        throw new Refusal('forbidden', { message: 'This account is no longer a member of the workspace: choose another one.' })
      if (principal.memberId !== null && principal.grant === null)
        deps.lastUsed.note('members', principal.memberId, deps.clock.now(), null)
      return current
    },
  })
  routes.put('/v1/workspaces/current', {
    config: {
      operation: 'workspaces.switch',
      access: 'undelegated',
      whileFrozen: true,
      whileNotAdmitted: true,
      refuses: ['forbidden', 'membership_suspended'],
    },
    schema: {
      summary: 'Switch to another workspace',
      description: 'For sessions and dashboard tokens. A grant is bound to its workspace.',
      body: SwitchWorkspace,
      response: { 200: WorkspaceView },
    },
    work: async (tx, { principal, body }) => ok(view(await switchWorkspace(tx, principal, body.workspace_id))),
  })
  routes.patch('/v1/workspaces/current', {
    config: { operation: 'workspaces.update', permission: 'workspace.manage' },
    schema: {
      summary: 'Change the workspace',
      description:
        'Its name and its time zone, which decides when a day and a month begin. A new time zone applies from the next local month.',
      body: UpdateWorkspace,
      response: { 200: WorkspaceView },
    },
    work: async (tx, { principal, body }) => ok(view(await updateWorkspace(tx, deps.config, principal, body))),
  })
  routes.post('/v1/workspaces/current/freeze', {
    config: { operation: 'workspaces.freeze', permission: 'workspace.manage', whileFrozen: true },
    schema: {
      summary: 'Freeze the workspace',
      description:
        'Stops all payments and changes until the workspace is unfrozen. Revoking, archiving, rejecting and cancelling stay possible; payments under way finish.',
      body: FreezeWorkspace,
      response: { 200: WorkspaceView },
    },
    work: async (tx, { principal, body }) => ok(view(await freezeWorkspace(tx, deps.config, principal, body.reason))),
  })
  routes.post('/v1/workspaces/current/unfreeze', {
    config: {
      operation: 'workspaces.unfreeze',
      permission: 'workspace.manage',
      access: 'undelegated',
      whileFrozen: true,
      refuses: ['forbidden', 'account_frozen', 'workspace_frozen'],
    },
    schema: {
      summary: 'Unfreeze the workspace',
      description: 'Payments and changes are possible again.',
      response: { 200: WorkspaceView },
    },
    work: async (tx, { principal }) => ok(view(await unfreezeWorkspace(tx, deps.config, principal))),
  })
}

export const registerAdminWorkspaces = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.post('/v1/admin/workspaces/:id/suspend', {
    config: { operation: 'admin.suspend_workspace', access: 'admin' },
    schema: {
      summary: 'Suspend a workspace',
      description: 'Freezes it so that only an administrator can end the freeze.',
      params: byId('workspace'),
      body: SuspendWorkspace,
      response: { 200: Workspace },
    },
    work: async (tx, { principal, params, body }) => {
      const workspace = await suspendWorkspace(tx, deps, principal, params.id, body.reason)
      return ok(presentWorkspace(workspace, deps.config.CURRENCY))
    },
  })
  routes.post('/v1/admin/workspaces/:id/reinstate', {
    config: { operation: 'admin.reinstate_workspace', access: 'admin', refuses: ['separation_of_duties'] },
    schema: {
      summary: 'Reinstate a workspace',
      description: 'Ends the suspension.',
      params: byId('workspace'),
      body: ReinstateWorkspace,
      response: { 200: Workspace },
    },
    work: async (tx, { principal, params, body }) => {
      const workspace = await reinstateWorkspace(tx, deps, principal, params.id, body.reason)
      return ok(presentWorkspace(workspace, deps.config.CURRENCY))
    },
  })
}
