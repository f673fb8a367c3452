import type { App } from '../../http/app-type.ts'
import { ok, respondOnce } from '../../http/idempotency.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentWorkspace } from './present.ts'
import { Reasoned, Workspace } from './schema.ts'
import { reinstateWorkspace, suspendWorkspace } from './suspend.ts'

export const registerAdminWorkspaces = (app: App, deps: Deps): void => {
  app.post(
    '/v1/admin/workspaces/:id/suspend',
    {
      config: { operation: 'admin.suspend_workspace', access: 'admin', refuses: ['invalid_request', 'not_found'] },
      schema: { params: byId('workspace'), body: Reasoned, response: { 200: Workspace } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const workspace = await suspendWorkspace(tx, deps, request.principal, request.params.id, request.body.reason)
        return ok(presentWorkspace(workspace, deps.config.CURRENCY))
      }),
  )
  app.post(
    '/v1/admin/workspaces/:id/reinstate',
    {
      config: { operation: 'admin.reinstate_workspace', access: 'admin', refuses: ['invalid_request', 'not_found'] },
      schema: { params: byId('workspace'), body: Reasoned, response: { 200: Workspace } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) => {
        const workspace = await reinstateWorkspace(tx, deps, request.principal, request.params.id, request.body.reason)
        return ok(presentWorkspace(workspace, deps.config.CURRENCY))
      }),
  )
}
