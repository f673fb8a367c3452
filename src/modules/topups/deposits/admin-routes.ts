import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { presentSuspense } from '../../exceptions/present.ts'
import { SuspenseItem } from '../../exceptions/schema.ts'
import type { Deps } from '../deps.ts'
import { assignSuspense } from './assign.ts'
import { AssignSuspense } from './schema.ts'

export const registerAssignments = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.post('/v1/admin/suspense/:id/assign', {
    config: {
      operation: 'admin.assign_suspense',
      access: 'admin',
      idempotent: true,
      refuses: ['invalid_request', 'not_found', 'conflict', 'separation_of_duties'],
    },
    schema: { params: byId('suspense'), body: AssignSuspense, response: { 200: SuspenseItem } },
    work: async (tx, { principal, params, body }) =>
      ok(presentSuspense(await assignSuspense(tx, deps.config, principal, params.id, body))),
  })
}
