import type { App } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentWorkspace } from './present.ts'
import { ReinstateWorkspace, SuspendWorkspace, Workspace } from './schema.ts'
import { reinstateWorkspace, suspendWorkspace } from './suspend.ts'

export const registerAdminWorkspaces = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.post('/v1/admin/workspaces/:id/suspend', {
    config: { operation: 'admin.suspend_workspace', access: 'admin', refuses: ['invalid_request', 'not_found'] },
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
    config: {
      operation: 'admin.reinstate_workspace',
      access: 'admin',
      refuses: ['invalid_request', 'separation_of_duties', 'not_found'],
    },
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
