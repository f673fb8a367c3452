import type { App } from '../../http/app-type.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import type { Deps } from './deps.ts'
import { presentAudit } from './present.ts'
import { listAudit } from './queries.ts'
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
      const { actor, ...others } = request.query
      const filter = { ...others, account_id: actor, workspace_id: id, ofWorkspace: true }
      return reply.send(
        await readPage(deps, request, {
          of: id,
          read: (page) => listAudit(deps.db, filter, page),
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
