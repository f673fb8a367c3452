import { and, desc, eq, getTableColumns, gt, like, lt, not, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { auditLog } from '../../db/tables/events.ts'
import { grants } from '../../db/tables/grants.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { FindAudit } from './schema.ts'

/** `grantLabel`: what the key or agent that acted is called. */
export type AuditRecord = typeof auditLog.$inferSelect & { grantLabel: string | null }
export type AuditFilter = Omit<FindAudit, 'limit' | 'cursor'> & {
  /** Without what people do about their own accounts while they work in a workspace: their sign-ins are private. */
  ofWorkspace?: boolean
}

const accountActions = [
  'account.',
  'identity.',
  'passkey.',
  'session.',
  'sign_in.',
  'dashboard_token.',
  'workspace.switch',
  'admin.',
]
const notOfAccounts = and(...accountActions.map((prefix) => not(sql`starts_with(${auditLog.action}, ${prefix})`)))

const byAction = (action: string) =>
  action.endsWith('.') ? like(auditLog.action, `${action.replace(/[%_\\]/g, '\\$&')}%`) : eq(auditLog.action, action)

export const listAudit = (db: Db, filter: AuditFilter, page: PageRequest): Promise<AuditRecord[]> =>
  db.orm
    .select({ ...getTableColumns(auditLog), grantLabel: grants.label })
    .from(auditLog)
    .leftJoin(grants, eq(grants.id, auditLog.grantId))
    .where(
      and(
        filter.account_id === undefined ? undefined : eq(auditLog.accountId, filter.account_id),
        filter.workspace_id === undefined ? undefined : eq(auditLog.workspaceId, filter.workspace_id),
        filter.subject_id === undefined ? undefined : eq(auditLog.subjectId, filter.subject_id),
        filter.action === undefined ? undefined : byAction(filter.action),
        filter.created_after === undefined ? undefined : gt(auditLog.at, filter.created_after),
        filter.created_before === undefined ? undefined : lt(auditLog.at, filter.created_before),
        filter.ofWorkspace ? notOfAccounts : undefined,
        page.before === null ? undefined : lt(auditLog.id, page.before),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(page.take)
