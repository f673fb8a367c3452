import { and, eq, getTableColumns, like, not, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Db } from '../../db/client.ts'
import { createdBetween } from '../../db/created-between.ts'
import { beginningWith, newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Places, prepare } from '../../db/prepare.ts'
import { approvals } from '../../db/tables/approvals.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { noneOf } from '../../db/tables/columns.ts'
import { auditLog, frequentActions } from '../../db/tables/events.ts'
import { grants } from '../../db/tables/grants.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { auditActions, workspaceAuditActions } from '../../events/audit-actions.ts'
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

type ByAction = { action?: string; beginning?: string; rareAction?: string }

const byAction = (action: string | undefined): ByAction => {
  if (action === undefined) return {}
  return action.endsWith('.') ? { beginning: beginningWith(action) } : { action }
}

const filters = {
  accountId: 'uuid?',
  subjectId: 'uuid?',
  action: 'text?',
  beginning: 'text?',
  /** One that not every payment writes: it has its place in an index. */
  rareAction: 'text?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const
const page = { before: 'uuid?', take: 'rows' } as const

/** A page of those that the filters leave, newest first. `owner`: whose log it is; undefined for the whole one. */
const select = (
  orm: QueryBuilder,
  at: Places<typeof filters & typeof page>,
  owner: { column: PgColumn; id: SQL } | undefined,
  scope?: SQL,
) =>
  newestFirst(
    orm
      .select({ ...listed, grantLabel: grants.label })
      .from(auditLog)
      .leftJoin(grants, eq(grants.id, auditLog.grantId)),
    { ...(owner && { owner: owner.column }), id: auditLog.id },
    at,
    owner && ownedBy(owner.column, owner.id),
    scope,
    at.accountId && eq(auditLog.accountId, at.accountId),
    at.subjectId && eq(auditLog.subjectId, at.subjectId),
    at.action && eq(auditLog.action, at.action),
    // Each of the two indexes has its own form of the action.
    at.rareAction &&
      and(
        sql`${owner ? auditLog.action : sql`lower(${auditLog.action})`} = ${at.rareAction}`,
        noneOf(auditLog.action, frequentActions),
      ),
    at.beginning && like(auditLog.action, at.beginning),
    createdBetween({ id: auditLog.id, at: auditLog.at, owner }, at.createdAfter, at.createdBefore),
  )

const filtersOf = ({
  subject_id,
  created_after,
  created_before,
}: Omit<AuditFilter, 'account_id' | 'workspace_id' | 'action'>) => ({
  subjectId: subject_id,
  createdAfter: created_after,
  createdBefore: created_before,
})

const all = prepare(
  'audit.list',
  { workspaceId: 'uuid?', ...filters, ...page },
  (orm, at) => select(orm, at, at.workspaceId && { column: auditLog.workspaceId, id: at.workspaceId }),
  'pool',
)

const ofWorkspace = prepare(
  'audit.of_workspace',
  { workspaceId: 'uuid', ...filters, ...page },
  (orm, at) => {
    const inWorkspace = eq(auditLog.workspaceId, at.workspaceId)
    // Of one actor by the index of what each did: `is true` keeps out that of the workspace, which has what everybody did in the same order.
    return at.accountId
      ? select(orm, at, { column: auditLog.accountId, id: at.accountId }, and(sql`(${inWorkspace}) is true`, notOfAccounts))
      : select(orm, at, { column: auditLog.workspaceId, id: at.workspaceId }, notOfAccounts)
  },
  'page',
)

/**
 * Its actions, if none of them is one that every payment writes: each has its place in an index, so none is read that was not asked for. Those of
 * one actor are in the index of what each did.
 */
const rareActions = (action: string | undefined, actor: Uuid | undefined, known: readonly string[]): readonly string[] | null => {
  if (action === undefined || actor !== undefined) return null
  const asked = action.endsWith('.') ? known.filter((each) => each.startsWith(action)) : [action]
  return asked.some(isFrequent) ? null : asked
}

/** A page of each rare action alone, as one page; else of all together. */
const readByAction = async (
  action: string | undefined,
  rare: readonly string[] | null,
  take: number,
  read: (by: ByAction) => Promise<AuditRecord[]>,
): Promise<AuditRecord[]> => {
  if (rare === null) return read(byAction(action))
  const pages = await Promise.all(rare.map((rareAction) => read({ rareAction })))
  return pages
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, take)
}

/** For administrators: the whole log. */
export const listAudit = (
  db: Db,
  { account_id: accountId, workspace_id: workspaceId, action, ...filter }: AuditFilter,
  request: PageRequest,
): Promise<AuditRecord[]> =>
  readByAction(action, rareActions(action, accountId, auditActions), request.take, (by) =>
    db.run(all, { accountId, workspaceId, ...filtersOf(filter), ...by, ...request }),
  )

export const listWorkspaceAudit = (
  db: Db,
  workspaceId: Uuid,
  { actor: accountId, action, ...filter }: Omit<FindWorkspaceAudit, 'limit' | 'cursor'>,
  request: PageRequest,
): Promise<AuditRecord[]> =>
  readByAction(action, rareActions(action, accountId, workspaceAuditActions), request.take, (by) =>
    db.run(ofWorkspace, { workspaceId, accountId, ...filtersOf(filter), ...by, ...request }),
  )

const paymentsOf = prepare(
  'audit.payments',
  { workspaceId: 'uuid', ids: 'uuid[]', approvals: 'uuid[]' },
  (orm, at) =>
    orm
      .select({
        id: payments.id,
        approvalId: payments.approvalId,
        amountMinor: payments.amountMinor,
        currency: payments.currency,
        beneficiaryId: payments.beneficiaryId,
        displayName: beneficiaries.displayName,
        batchId: payments.batchId,
        batchName: paymentBatches.name,
      })
      .from(payments)
      .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
      .leftJoin(paymentBatches, eq(paymentBatches.id, payments.batchId))
      .where(
        and(
          eq(payments.workspaceId, at.workspaceId),
          sql`${payments.id} = any(${at.ids} || array(select ${approvals.paymentId} from ${approvals} where ${approvals.id} = any(${at.approvals})))`,
        ),
      ),
  'page',
)

export type AuditPayment = Awaited<ReturnType<typeof readPayments>>[number]

const readPayments = (db: Db, values: { workspaceId: Uuid; ids: readonly Uuid[]; approvals: readonly Uuid[] }) =>
  db.run(paymentsOf, values)

/** The payments that entries are about, by the id of what was acted on: of an approval the payment that is decided. */
export const paymentsOfEntries = async (
  db: Db,
  workspaceId: Uuid,
  entries: readonly AuditRecord[],
): Promise<ReadonlyMap<Uuid, AuditPayment>> => {
  const about = (type: string) =>
    entries.flatMap(({ subjectType, subjectId }) => (subjectType === type && subjectId ? [subjectId] : []))
  const [ids, decided] = [about('payment'), about('approval')]
  if (ids.length + decided.length === 0) return new Map()
  const rows = await readPayments(db, { workspaceId, ids, approvals: decided })
  return new Map(rows.flatMap((row) => [[row.id, row] as const, ...(row.approvalId ? [[row.approvalId, row] as const] : [])]))
}
