import type { App } from '../../http/app-type.ts'
import { notFound } from '../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { presentWorkspaceView } from './present.ts'
import { findMembership, findWorkspace } from './queries.ts'
import { WorkspaceView } from './schema.ts'

export const registerWorkspaces = (app: App, deps: Deps): void => {
  app.get(
    '/v1/workspaces/current',
    { config: { operation: 'workspaces.current', permission: 'workspace.read' }, schema: { response: { 200: WorkspaceView } } },
    async (request, reply) => {
      const { workspace, accountId } = request.principal
      const found = await findWorkspace(deps.db, workspace.id)
      const member = await findMembership(deps.db, workspace.id, accountId)
      if (!found || !member) throw notFound()
      return reply.send(presentWorkspaceView(found, member, deps.config.CURRENCY))
    },
  )
}
