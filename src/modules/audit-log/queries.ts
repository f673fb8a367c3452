import { and, desc, eq, getTableColumns, gt, like, lt, not, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { auditLog } from '../../db/tables/events.ts'
import { grants } from '../../db/tables/grants.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { FindAudit, FindWorkspaceAudit } from './schema.ts'

/** `grantLabel`: what the key or agent that acted is called. */
export type AuditRecord = Omit<typeof auditLog.$inferSelect, 'inputs'> & { grantLabel: string | null }
export type AuditFilter = Omit<FindAudit, 'limit' | 'cursor'>

const { inputs: _, ...listed } = getTableColumns(auditLog)

/** What people do about their own accounts while they work in a workspace, as their sign-ins, is private. */
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

const beginningWith = (text: string): string => `${text.replace(/[%_\\]/g, '\\$&')}%`
const byAction = (action: string) =>
  action.endsWith('.') ? like(auditLog.action, beginningWith(action)) : eq(auditLog.action, action)

/** For administrators: the whole log. */
export const listAudit = (db: Db, filter: AuditFilter, page: PageRequest): Promise<AuditRecord[]> =>
  db.orm
    .select({ ...listed, grantLabel: grants.label })
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
        page.before === null ? undefined : lt(auditLog.id, page.before),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(page.take)

const ofWorkspace = prepare(
  'audit.of_workspace',
  {
    workspaceId: 'uuid',
    accountId: 'uuid?',
    subjectId: 'uuid?',
    action: 'text?',
    beginning: 'text?',
    createdAfter: 'timestamptz?',
    createdBefore: 'timestamptz?',
    before: 'uuid?',
    take: 'rows',
  },
  (orm, at) =>
    orm
      .select({ ...listed, grantLabel: grants.label })
      .from(auditLog)
      .leftJoin(grants, eq(grants.id, auditLog.grantId))
      .where(
        and(
          eq(auditLog.workspaceId, at.workspaceId),
          notOfAccounts,
          at.accountId && eq(auditLog.accountId, at.accountId),
          at.subjectId && eq(auditLog.subjectId, at.subjectId),
          at.action && eq(auditLog.action, at.action),
          at.beginning && like(auditLog.action, at.beginning),
          at.createdAfter && gt(auditLog.at, at.createdAfter),
          at.createdBefore && lt(auditLog.at, at.createdBefore),
          at.before && lt(auditLog.id, at.before),
        ),
      )
      .orderBy(desc(auditLog.id))
      .limit(at.take),
  'page',
)

export const listWorkspaceAudit = (
  db: Db,
  workspaceId: Uuid,
  { action, actor, subject_id, created_after, created_before }: Omit<FindWorkspaceAudit, 'limit' | 'cursor'>,
  page: PageRequest,
): Promise<AuditRecord[]> =>
  db.run(ofWorkspace, {
    workspaceId,
    accountId: actor,
    subjectId: subject_id,
    ...(action?.endsWith('.') ? { beginning: beginningWith(action) } : { action }),
    createdAfter: created_after,
    createdBefore: created_before,
    ...page,
  })
