import type { App } from '../../http/app-type.ts'
import { pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { listAudit, listWorkspaceAudit, paymentsOfEntries, presentAudit } from './queries.ts'
import { AuditEntry, FindAudit, FindWorkspaceAudit, WorkspaceAuditEntry } from './schema.ts'

export const registerWorkspaceAuditLog = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/workspaces/current/audit-log', 'workspaces.audit_log', {
    permission: ['audit.read', 'workspace.manage'],
    summary: 'List audit log entries of the workspace',
    description:
      'Returns actions in the workspace with their time, actor and credential, newest first. Entries never change and are sealed by a hash chain. Actions of members on their own accounts are not included.',
    querystring: FindWorkspaceAudit,
    response: { 200: pageOf(WorkspaceAuditEntry) },
    read: (page, { principal, query }) => listWorkspaceAudit(deps.db, principal.workspace.id, query, page),
    present: async (rows, { principal }) => {
      const payments = await paymentsOfEntries(deps.db, principal.workspace.id, rows)
      return rows.map((row) => ({ ...presentAudit(row), payment: (row.subjectId && payments.get(row.subjectId)) || null }))
    },
  })
}

export const registerAuditLog = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.list('/v1/admin/audit-log', 'admin.audit_log', {
    summary: 'List audit log entries',
    description:
      'Returns actions with their time, actor and credential. The log is append-only. Filter it by account, workspace, subject, action and time.',
    querystring: FindAudit,
    response: { 200: pageOf(AuditEntry) },
    read: (page, { query }) => listAudit(deps.db, query, page),
    present: (rows) => rows.map(presentAudit),
  })
}
