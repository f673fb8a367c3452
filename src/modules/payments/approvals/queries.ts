import { and, asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { asksForTwo } from '../../../auth/authority-sql.ts'
import { type Db, first } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvalDecisions, approvals, approvalVoids } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { payments } from '../../../db/tables/payments.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { toSamePayee } from '../../beneficiaries/payee-queries.ts'
import { type BatchRow, findBatchRows } from '../batch/queries.ts'
import { isOlderThanLoss } from '../lifecycle/lost-writes.ts'

export type ApprovalRow = typeof approvals.$inferSelect
/** `voidedAt`: when what it rested on ended. */
export type DecisionRow = typeof approvalDecisions.$inferSelect & { voidedAt: Date | null }

/** An approval with its payment, or its batch and the batch's first payment, and the decisions made so far. */
export type ApprovalRecord = {
  approval: ApprovalRow
  batch: BatchRow | null
  payment: typeof payments.$inferSelect
  beneficiary: Pick<
    typeof beneficiaries.$inferSelect,
    | 'id'
    | 'displayName'
    | 'paymentRail'
    | 'destinationMask'
    | 'nameCheckedAt'
    | 'nameSource'
    | 'reportedName'
    | 'verification'
    | 'confirmedAt'
  >
  grantLabel: string | null
  /** The grant that asked for it and those above it, root first. */
  lineage: Uuid[]
  firstPayment: boolean
  /** More than one person's own word is asked for: then an approver of yesterday counts, and one of today does not. */
  asksForTwo: boolean
  /** Asked for before writes were lost: it may have been sent in them. */
  olderThanLoss: boolean
  decisions: DecisionRow[]
}

export const firstPayment = sql<boolean>`not exists (
  select from payments earlier
  where ${sql.raw(toSamePayee('earlier', 'payments'))} and earlier.status in ${sql.raw(paidPaymentsSql)} and earlier.id <> ${payments.id})`

const isFirst = prepare(
  'approvals.is_first_payment',
  { paymentId: 'uuid' },
  (orm, at) => orm.select({ isFirst: firstPayment }).from(payments).where(eq(payments.id, at.paymentId)),
  'joined',
)
export const isFirstPayment = async (db: Db, paymentId: Uuid): Promise<boolean> =>
  (await first(db, isFirst, { paymentId }))?.isFirst ?? false

export const selection = {
  approval: approvals,
  payment: payments,
  beneficiary: {
    id: beneficiaries.id,
    displayName: approvals.beneficiaryName,
    paymentRail: beneficiaries.paymentRail,
    destinationMask: beneficiaries.destinationMask,
    nameCheckedAt: beneficiaries.nameCheckedAt,
    nameSource: beneficiaries.nameSource,
    reportedName: beneficiaries.reportedName,
    verification: beneficiaries.verification,
    confirmedAt: beneficiaries.confirmedAt,
  },
  grantLabel: grants.label,
  lineage: sql<Uuid[]>`coalesce(${grants.ancestorIds} || ${grants.id}, '{}')`,
  firstPayment,
  asksForTwo: sql<boolean>`${sql.raw(asksForTwo('approvals', 'required_approvals'))}`,
  olderThanLoss: sql<boolean>`${sql.raw(isOlderThanLoss('payments'))}`,
}

/** What is joined to an approval. */
export const [itsPayment, itsPayee, itsGrant] = [
  eq(payments.id, approvals.paymentId),
  eq(beneficiaries.id, payments.beneficiaryId),
  eq(grants.id, payments.grantId),
]
const select = (orm: QueryBuilder) =>
  orm
    .select(selection)
    .from(approvals)
    .innerJoin(payments, itsPayment)
    .innerJoin(beneficiaries, itsPayee)
    .leftJoin(grants, itsGrant)

const byId = prepare(
  'approvals.by_id',
  { id: 'uuid', workspaceId: 'uuid?' },
  (orm, at) => select(orm).where(and(eq(approvals.id, at.id), at.workspaceId && eq(approvals.workspaceId, at.workspaceId))),
  'joined',
)

/** In the order in which they were given. */
export const selectDecisions = (orm: QueryBuilder, of: SQL) =>
  orm
    .select({ ...getTableColumns(approvalDecisions), voidedAt: approvalVoids.voidedAt })
    .from(approvalDecisions)
    .leftJoin(approvalVoids, eq(approvalVoids.decisionId, approvalDecisions.id))
    .where(of)
    .orderBy(asc(approvalDecisions.decidedAt), asc(approvalDecisions.id))

export const decisionsOf = prepare(
  'approvals.decisions',
  { id: 'uuid' },
  (orm, at) => selectDecisions(orm, eq(approvalDecisions.approvalId, at.id)),
  'joined',
)

/** The decisions that count: the latest of each account, if it was not voided. The decisions are in the order in which they were given. */
export const currentDecisions = ({ decisions }: Pick<ApprovalRecord, 'decisions'>): DecisionRow[] => {
  const latest = new Map(decisions.map((decision) => [decision.accountId, decision]))
  return [...latest.values()].filter(({ voidedAt }) => voidedAt === null)
}

/** Whether a decision counts: a rejection always, an approval only if it is signed where signatures are asked for. */
export const counts = ({ approval }: Pick<ApprovalRecord, 'approval'>, { decision, via }: DecisionRow): boolean =>
  decision === 'reject' || approval.approvalProof === 'any' || via !== 'credential'

type Row = Omit<ApprovalRecord, 'batch' | 'decisions' | 'firstPayment'>
export const withDecisions = (row: Row, isFirst: boolean, ...decisions: DecisionRow[]) => ({
  ...row,
  firstPayment: isFirst,
  decisions,
})
const withBatch = (row: Omit<ApprovalRecord, 'batch'>, batch: BatchRow | null): ApprovalRecord => ({ ...row, batch })

/** Few approvals are about a batch. */
export const withBatches = async (db: Db, rows: readonly Omit<ApprovalRecord, 'batch'>[]): Promise<ApprovalRecord[]> => {
  const batches = await findBatchRows(
    db,
    rows.flatMap(({ approval }) => approval.batchId ?? []),
  )
  return rows.map((row) => withBatch(row, batches.find(({ id }) => id === row.approval.batchId) ?? null))
}

const find = async (db: Db, id: Uuid, workspaceId?: Uuid): Promise<ApprovalRecord | undefined> => {
  const [row, decisions] = await Promise.all([first(db, byId, { id, workspaceId }), db.run(decisionsOf, { id })])
  return row && (await withBatches(db, [withDecisions(row, row.firstPayment, ...decisions)]))[0]
}

/** By id alone: for the public message and for signatures, which name no workspace. */
export const findApproval = (db: Db, id: Uuid): Promise<ApprovalRecord | undefined> => find(db, id)

export const findApprovalIn = (db: Db, workspaceId: Uuid, id: Uuid): Promise<ApprovalRecord | undefined> =>
  find(db, id, workspaceId)
