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
const byAction = (action: string | undefined) => (action?.endsWith('.') ? { beginning: beginningWith(action) } : { action })

const all = prepare(
  'audit.list',
  {
    accountId: 'uuid?',
    workspaceId: 'uuid?',
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
          at.accountId && eq(auditLog.accountId, at.accountId),
          at.workspaceId && eq(auditLog.workspaceId, at.workspaceId),
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
  'pool',
)

/** For administrators: the whole log. */
export const listAudit = (
  db: Db,
  { account_id, workspace_id, subject_id, action, created_after, created_before }: AuditFilter,
  page: PageRequest,
): Promise<AuditRecord[]> =>
  db.run(all, {
    accountId: account_id,
    workspaceId: workspace_id,
    subjectId: subject_id,
    ...byAction(action),
    createdAfter: created_after,
    createdBefore: created_before,
    ...page,
  })

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
    ...byAction(action),
    createdAfter: created_after,
    createdBefore: created_before,
    ...page,
  })
