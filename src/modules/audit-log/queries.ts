import { and, eq, getTableColumns, like, not, type SQL, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Db } from '../../db/client.ts'
import { createdBetween } from '../../db/created-between.ts'
import { beginningWith, newestFirst } from '../../db/list-queries.ts'
import { type Places, prepare } from '../../db/prepare.ts'
import { noneOf } from '../../db/tables/columns.ts'
import { auditLog, frequentActions } from '../../db/tables/events.ts'
import { grants } from '../../db/tables/grants.ts'
import { workspaceAuditActions } from '../../events/audit-actions.ts'
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

const isFrequent = (action: string): boolean => frequentActions.some((frequent) => frequent === action)

const byAction = (action: string | undefined) => (action?.endsWith('.') ? { beginning: beginningWith(action) } : { action })

const filters = {
  accountId: 'uuid?',
  subjectId: 'uuid?',
  action: 'text?',
  beginning: 'text?',
  rare: 'flag?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const
const page = { before: 'uuid?', take: 'rows' } as const

/** A page of those that the filters leave, newest first. `within`: whose log it is; undefined for the whole one. */
const select = (orm: QueryBuilder, at: Places<typeof filters & typeof page>, within: SQL | undefined, scope?: SQL) =>
  newestFirst(
    orm
      .select({ ...listed, grantLabel: grants.label })
      .from(auditLog)
      .leftJoin(grants, eq(grants.id, auditLog.grantId)),
    auditLog.id,
    at,
    within,
    scope,
    at.accountId && eq(auditLog.accountId, at.accountId),
    at.subjectId && eq(auditLog.subjectId, at.subjectId),
    at.action && eq(auditLog.action, at.action),
    at.rare && noneOf(auditLog.action, frequentActions),
    at.beginning && like(auditLog.action, at.beginning),
    createdBetween({ id: auditLog.id, at: auditLog.at, within }, at.createdAfter, at.createdBefore),
  )

const filtersOf = ({ subject_id, action, created_after, created_before }: Omit<AuditFilter, 'account_id' | 'workspace_id'>) => ({
  subjectId: subject_id,
  ...byAction(action),
  createdAfter: created_after,
  createdBefore: created_before,
})

const all = prepare(
  'audit.list',
  { workspaceId: 'uuid?', ...filters, ...page },
  (orm, at) => select(orm, at, at.workspaceId && eq(auditLog.workspaceId, at.workspaceId)),
  'pool',
)

/** For administrators: the whole log. */
export const listAudit = (
  db: Db,
  { account_id, workspace_id, ...filter }: AuditFilter,
  request: PageRequest,
): Promise<AuditRecord[]> => db.run(all, { accountId: account_id, workspaceId: workspace_id, ...filtersOf(filter), ...request })

const ofWorkspace = prepare(
  'audit.of_workspace',
  { workspaceId: 'uuid', ...filters, ...page },
  (orm, at) => {
    const inWorkspace = eq(auditLog.workspaceId, at.workspaceId)
    // Of one actor by the index of what each did: `is true` keeps out that of the workspace, which has what everybody did in the same order.
    return at.accountId
      ? select(orm, at, eq(auditLog.accountId, at.accountId), and(sql`(${inWorkspace}) is true`, notOfAccounts))
      : select(orm, at, inWorkspace, notOfAccounts)
  },
  'page',
)

type WorkspaceFilter = Omit<FindWorkspaceAudit, 'limit' | 'cursor'>

/** The actions that are asked for, if none of them is one that every payment writes: each has its place in an index. */
const rareActions = ({ action, actor }: WorkspaceFilter): readonly string[] | null => {
  if (action === undefined || actor !== undefined) return null
  const asked = action.endsWith('.') ? workspaceAuditActions.filter((each) => each.startsWith(action)) : [action]
  return asked.some(isFrequent) ? null : asked
}

export const listWorkspaceAudit = async (
  db: Db,
  workspaceId: Uuid,
  { actor, ...filter }: WorkspaceFilter,
  request: PageRequest,
): Promise<AuditRecord[]> => {
  const read = (values: ReturnType<typeof filtersOf> & { rare?: boolean }) =>
    db.run(ofWorkspace, { workspaceId, accountId: actor, ...values, ...request })
  const actions = rareActions({ actor, ...filter })
  if (actions === null) return read(filtersOf(filter))
  const pages = await Promise.all(actions.map((action) => read({ ...filtersOf({ ...filter, action }), rare: true })))
  return pages
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, request.take)
}
