import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { byId } from '../../../http/wire.ts'
import { presentSuspense } from '../../suspense/present.ts'
import { SuspenseItem } from '../../suspense/schema.ts'
import type { Deps } from '../deps.ts'
import { assignSuspense } from './assign.ts'
import { AssignSuspense } from './schema.ts'

export const registerAssignments = (app: App, deps: Deps): void => {
  app.post(
    '/v1/admin/suspense/:id/assign',
    {
      config: {
        operation: 'admin.assign_suspense',
        access: 'admin',
        idempotent: true,
        refuses: ['invalid_request', 'not_found', 'conflict', 'separation_of_duties'],
      },
      schema: { params: byId('suspense'), body: AssignSuspense, response: { 200: SuspenseItem } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentSuspense(await assignSuspense(tx, deps, request.principal, request.params.id, request.body))),
      ),
  )
}
