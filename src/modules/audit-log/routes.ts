import type { App } from '../../http/app-type.ts'
import { pageOf } from '../../http/pagination.ts'
import { refusals } from '../../http/wire.ts'
import type { Deps } from '../deps.ts'
import { presentAudit } from './present.ts'
import { listAudit } from './queries.ts'
import { AuditEntry, FindAudit } from './schema.ts'

export const registerAuditLog = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/audit-log',
    {
      config: { operation: 'admin.audit_log', access: 'admin' },
      schema: {
        querystring: FindAudit,
        response: { 200: pageOf(AuditEntry), ...refusals('invalid_request', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const rows = await listAudit(deps.db, request.query, deps.cursors.read('audit', request.query))
      return reply.send(deps.cursors.page('audit', request.query, rows, (row) => row.id, presentAudit))
    },
  )
}
