import { and, asc, desc, eq, getTableColumns, inArray, lt, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../../db/client.ts'
import { approvalDecisions, approvals, approvalVoids } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { payments } from '../../../db/tables/payments.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { toSamePayee } from '../../beneficiaries/payee-queries.ts'

export type ApprovalRow = typeof approvals.$inferSelect
/** `voidedAt`: when what it rested on ended. */
export type DecisionRow = typeof approvalDecisions.$inferSelect & { voidedAt: Date | null }

/** An approval with its payment and the decisions made so far. */
export type ApprovalRecord = {
  approval: ApprovalRow
  payment: typeof payments.$inferSelect
  beneficiary: Pick<typeof beneficiaries.$inferSelect, 'id' | 'displayName' | 'paymentRail' | 'destinationMask'>
  grantLabel: string | null
  firstPayment: boolean
  decisions: DecisionRow[]
}

const firstPayment = sql<boolean>`not exists (
  select from payments earlier
  where ${sql.raw(toSamePayee('earlier', 'payments'))} and earlier.status in ${sql.raw(paidPaymentsSql)} and earlier.id <> ${payments.id})`

const select = (db: Db) =>
  db.orm
    .select({
      approval: approvals,
      payment: payments,
      beneficiary: {
        id: beneficiaries.id,
        displayName: beneficiaries.displayName,
        paymentRail: beneficiaries.paymentRail,
        destinationMask: beneficiaries.destinationMask,
      },
      grantLabel: grants.label,
      firstPayment,
    })
    .from(approvals)
    .innerJoin(payments, eq(payments.id, approvals.paymentId))
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .leftJoin(grants, eq(grants.id, payments.grantId))

const withDecisions = async (db: Db, rows: Omit<ApprovalRecord, 'decisions'>[]): Promise<ApprovalRecord[]> => {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.approval.id)
  const decisions = await db.orm
    .select({ ...getTableColumns(approvalDecisions), voidedAt: approvalVoids.voidedAt })
    .from(approvalDecisions)
    .leftJoin(approvalVoids, eq(approvalVoids.decisionId, approvalDecisions.id))
    .where(inArray(approvalDecisions.approvalId, ids))
    .orderBy(asc(approvalDecisions.decidedAt), asc(approvalDecisions.id))
  return rows.map((row) => ({ ...row, decisions: decisions.filter((decision) => decision.approvalId === row.approval.id) }))
}

/** The decisions that count: the latest of each account, if it was not voided. The decisions are in the order in which they were given. */
export const currentDecisions = ({ decisions }: Pick<ApprovalRecord, 'decisions'>): DecisionRow[] => {
  const latest = new Map(decisions.map((decision) => [decision.accountId, decision]))
  return [...latest.values()].filter(({ voidedAt }) => voidedAt === null)
}

/** By id alone: for the public message and for signatures, which name no workspace. */
export const findApproval = async (db: Db, id: Uuid): Promise<ApprovalRecord | undefined> =>
  (await withDecisions(db, await select(db).where(eq(approvals.id, id))))[0]

export const findApprovalIn = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<ApprovalRecord | undefined> =>
  (await withDecisions(db, await select(db).where(and(eq(approvals.id, id), eq(approvals.workspaceId, workspaceId)))))[0]

export const listApprovals = async (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  status: ApprovalRow['status'] | undefined,
): Promise<ApprovalRecord[]> =>
  withDecisions(
    db,
    await select(db)
      .where(
        and(
          eq(approvals.workspaceId, workspaceId),
          page.before ? lt(approvals.id, page.before) : undefined,
          status ? eq(approvals.status, status) : undefined,
        ),
      )
      .orderBy(desc(approvals.id))
      .limit(page.take),
  )

/** The approval, locked: after the owning ledger account and the payment. */
export const lockApproval = async (tx: Tx, id: Uuid): Promise<ApprovalRecord> => {
  await tx.query('select 1 from approvals where id = $1 for update', [id])
  const record = await findApproval(tx, id)
  if (!record) throw new Error('an approval that must exist is missing')
  return record
}
