import type { App } from '../../http/app-type.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import type { Deps } from './deps.ts'
import { presentAudit } from './present.ts'
import { listAudit, listWorkspaceAudit } from './queries.ts'
import { AuditEntry, FindAudit, FindWorkspaceAudit } from './schema.ts'

export const registerWorkspaceAuditLog = (app: App, deps: Deps): void => {
  app.get(
    '/v1/workspaces/current/audit-log',
    {
      config: {
        operation: 'workspaces.audit_log',
        permission: 'workspace.manage',
        refuses: ['invalid_request', 'invalid_cursor'],
      },
      schema: {
        description: 'Who did what in the workspace, newest first. What members do about their own accounts is not in it.',
        querystring: FindWorkspaceAudit,
        response: { 200: pageOf(AuditEntry) },
      },
    },
    async (request, reply) => {
      const { id } = request.principal.workspace
      return reply.send(
        await readPage(deps, request, {
          of: id,
          read: (page) => listWorkspaceAudit(deps.db, id, request.query, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentAudit),
        }),
      )
    },
  )
}

export const registerAuditLog = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/audit-log',
    {
      config: { operation: 'admin.audit_log', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: FindAudit,
        response: { 200: pageOf(AuditEntry) },
      },
    },
    async (request, reply) => {
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listAudit(deps.db, request.query, page),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentAudit),
        }),
      )
    },
  )
}
