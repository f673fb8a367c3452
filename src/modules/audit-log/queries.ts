import { and, desc, eq, getTableColumns, like, not, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Db } from '../../db/client.ts'
import { beginningWith, createdBetween, newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Placeholders, prepare } from '../../db/prepare.ts'
import { approvals } from '../../db/tables/approvals.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { noneOf } from '../../db/tables/columns.ts'
import { auditLog, frequentActions } from '../../db/tables/events.ts'
import { grants } from '../../db/tables/grants.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { auditActions, privateBeginnings, workspaceAuditActions } from '../../events/audit-actions.ts'
import { filtersOf, type PageRequest } from '../../http/pagination.ts'
import { presenter } from '../../http/presenter.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId, isIdKind, type Uuid } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import { AuditEntry, type FindAudit, type FindWorkspaceAudit, type WorkspaceAuditEntry } from './schema.ts'

export type AuditRecord = Omit<typeof auditLog.$inferSelect, 'inputs'> & { grantLabel: string | null }

const { inputs: _, ...listedColumns } = getTableColumns(auditLog)

/** Actions on a person's own account are private, even if the person was working in a workspace. */
const isNotPrivate = and(...privateBeginnings.map((start) => not(sql`starts_with(${auditLog.action}, ${start})`)))

const filters = {
  accountId: 'uuid?',
  subjectId: 'uuid?',
  action: 'text?',
  beginning: 'text?',
  /** An action outside `frequentActions`. A partial index covers it. */
  rareAction: 'text?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const
const page = { before: 'uuid?', take: 'rows' } as const

/** `owner`: the account or workspace whose log is read. Without an owner, the whole log is read. */
const selectEntries = (
  orm: QueryBuilder,
  param: Placeholders<typeof filters & typeof page>,
  owner: { column: PgColumn; id: SQL } | undefined,
  scope?: SQL,
) =>
  newestFirst(
    orm
      .select({ ...listedColumns, grantLabel: grants.label })
      .from(auditLog)
      .leftJoin(grants, eq(grants.id, auditLog.grantId)),
    { ...(owner && { owner: owner.column }), id: auditLog.id },
    param,
    owner && ownedBy(owner.column, owner.id),
    scope,
    param.accountId && eq(auditLog.accountId, param.accountId),
    param.subjectId && eq(auditLog.subjectId, param.subjectId),
    param.action && eq(auditLog.action, param.action),
    // The index on owners has the action as written, the index on the whole log has it in lowercase.
    param.rareAction &&
      and(
        sql`${owner ? auditLog.action : sql`lower(${auditLog.action})`} = ${param.rareAction}`,
        noneOf(auditLog.action, frequentActions),
      ),
    param.beginning && like(auditLog.action, param.beginning),
    createdBetween({ id: auditLog.id, at: auditLog.at, owner }, param.createdAfter, param.createdBefore),
  )

const auditOfService = prepare('audit.list', { workspaceId: 'uuid?', ...filters, ...page }, 'pool', (orm, param) =>
  selectEntries(orm, param, param.workspaceId && { column: auditLog.workspaceId, id: param.workspaceId }),
)

const auditOfWorkspace = prepare('audit.of_workspace', { workspaceId: 'uuid', ...filters, ...page }, 'page', (orm, param) => {
  // Entries of one actor are read along the index on accounts. `is true` keeps the planner off the workspace's index, which has
  // the entries of all actors in the same order.
  const inWorkspace = sql`(${eq(auditLog.workspaceId, param.workspaceId)}) is true`
  return param.accountId
    ? selectEntries(orm, param, { column: auditLog.accountId, id: param.accountId }, and(inWorkspace, isNotPrivate))
    : selectEntries(orm, param, { column: auditLog.workspaceId, id: param.workspaceId }, isNotPrivate)
})

/**
 * Reads a page per action along a partial index and merges the pages. The index leaves out the actions that every payment writes,
 * so these are read as one page. The entries of one actor have an index of their own.
 */
const readByAction = async (
  { action, actor }: { action: string | undefined; actor: Uuid | undefined },
  allActions: readonly string[],
  take: number,
  read: (by: { action?: string; beginning?: string; rareAction?: string }) => Promise<AuditRecord[]>,
): Promise<AuditRecord[]> => {
  if (action === undefined) return read({})
  const isBeginning = action.endsWith('.')
  const actions = isBeginning ? allActions.filter((each) => each.startsWith(action)) : [action]
  if (actor !== undefined || frequentActions.some((frequent) => actions.includes(frequent)))
    return read(isBeginning ? { beginning: beginningWith(action) } : { action })
  const pages = await Promise.all(actions.map((rareAction) => read({ rareAction })))
  return pages
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, take)
}

export const listAudit = (db: Db, query: Omit<FindAudit, 'limit' | 'cursor'>, request: PageRequest): Promise<AuditRecord[]> =>
  readByAction({ action: query.action, actor: query.account_id }, auditActions, request.take, (by) =>
    db.run(auditOfService, { ...filtersOf(query), action: undefined, ...by, ...request }),
  )

export const listWorkspaceAudit = (
  db: Db,
  workspaceId: Uuid,
  { actor, action, ...filter }: FindWorkspaceAudit,
  request: PageRequest,
): Promise<AuditRecord[]> =>
  readByAction({ action, actor }, workspaceAuditActions, request.take, (by) =>
    db.run(auditOfWorkspace, { workspaceId, accountId: actor, ...filtersOf(filter), ...by, ...request }),
  )

const paymentsOf = prepare('audit.payments', { workspaceId: 'uuid', ids: 'uuid[]', approvals: 'uuid[]' }, 'page', (orm, param) =>
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
        eq(payments.workspaceId, param.workspaceId),
        sql`${payments.id} = any(${param.ids} || array(select ${approvals.paymentId} from ${approvals} where ${approvals.id} = any(${param.approvals})))`,
      ),
    )
    // A batch's first payment comes last: all of its payments have its approval.
    .orderBy(desc(payments.batchIndex)),
)

/**
 * Returns each entry's payment, by the id of the entry's subject. An approval's payment is the payment that it decides, or the
 * first one of its batch.
 */
export const paymentsOfEntries = async (
  db: Db,
  workspaceId: Uuid,
  entries: readonly AuditRecord[],
): Promise<ReadonlyMap<Uuid, WorkspaceAuditEntry['payment']>> => {
  const about = (type: string) =>
    entries.flatMap(({ subjectType, subjectId }) => (subjectType === type && subjectId ? [subjectId] : []))
  const [ids, decided] = [about('payment'), about('approval')]
  if (ids.length + decided.length === 0) return new Map()
  const rows = await db.run(paymentsOf, { workspaceId, ids, approvals: decided })
  return new Map(
    rows.flatMap(({ id, approvalId, amountMinor, currency, beneficiaryId, displayName, batchId, batchName }) => {
      const payment = {
        id: formatId('payment', id),
        amount_minor: formatMinor(amountMinor),
        currency,
        beneficiary: { id: formatId('beneficiary', beneficiaryId), display_name: displayName },
        batch: batchId ? { id: formatId('payment_batch', batchId), name: batchName } : null,
      }
      return [id, ...(approvalId ? [approvalId] : [])].map((subject) => [subject, payment])
    }),
  )
}

/** The public id, or the UUID of a credential that has none, such as a dashboard token. */
const nameOf = (type: string, id: Uuid): string => (isIdKind(type) ? formatId(type, id) : id)

const shown = presenter(AuditEntry)

export const presentAudit = (row: AuditRecord): AuditEntry => {
  const { credentialKind: kind, credentialId, subjectType: type, subjectId } = row
  return shown(row, {
    credential: kind === null ? null : { kind, id: credentialId && nameOf(kind, credentialId) },
    subject: type && subjectId ? { type, id: nameOf(type, subjectId) } : null,
    created_at: isoTime(row.at),
  })
}
