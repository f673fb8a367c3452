import { and, asc, eq, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { canSign } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { payees } from '../../../db/tables/beneficiaries.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { payments } from '../../../db/tables/payments.ts'
import { members } from '../../../db/tables/workspaces.ts'
import { together } from '../../../db/together.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import { getBalance } from '../../../ledger/balance.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { madeOnce } from '../../../lib/shared.ts'
import { typicalAmount } from '../../../policy/unusual.ts'
import { lastPaidSql, toSamePayee } from '../../beneficiaries/payee-queries.ts'
import { readItemsOf } from '../batch/queries.ts'
import type { Deps } from '../deps.ts'
import { thoseThatMayBePaidTwice } from '../lifecycle/lost-writes.ts'
import { type ApprovalRecord, counts, currentDecisions } from './queries.ts'

type History = { approvalId: Uuid; paymentsCount: number; lastPaidAt: Date | null; lastPaid: Minor[] }
type PayeeHistory = { paymentsCount: number; lastPaidAt: Date | null; typicalAmountMinor: Minor | null }

/**
 * Information that helps to decide and is not part of the approval itself: earlier payments to this payee (null for a batch), what the limits
 * leave, who else may decide.
 */
export type ApprovalContext = {
  payee: PayeeHistory | null
  availableAfterMinor: Minor
  eligibleApprovers: Uuid[]
  /** How many of its payments may have been sent in writes that were lost, and are not sent when they are approved. */
  mayHaveBeenSent: number
}

type ContextDeps = Pick<Deps, 'clock' | 'db' | 'rails'>

const earlier = alias(payments, 'earlier')

/**
 * Payments to the same payee under any name, in this workspace: a fingerprint belongs to one workspace. At a paybill those to the same
 * account.
 */
const payeeHistories = prepare(
  'approvals.payee_histories',
  { approvalIds: 'uuid[]' },
  (orm, at) =>
    orm
      .select({
        approvalId: approvals.id,
        paymentsCount: sql<number>`count(*)::int`,
        lastPaidAt: sql<Date | null>`max(${earlier.completedAt})`,
        lastPaid: sql<
          Minor[]
        >`${sql.raw(lastPaidSql({ payee: 'payees', rail: 'payments.rail', reference: 'payments.account_reference', without: 'payments.id' }))}`,
      })
      .from(approvals)
      .innerJoin(payments, eq(payments.id, approvals.paymentId))
      .innerJoin(payees, eq(payees.id, payments.payeeId))
      .innerJoin(earlier, and(sql.raw(toSamePayee('earlier', 'payments')), ne(earlier.id, payments.id)))
      .where(and(sql`${approvals.id} = any(${at.approvalIds})`, sql`${earlier.status} in ${sql.raw(paidPaymentsSql)}`))
      .groupBy(approvals.id, payments.id, payees.id),
  // A payee may have been paid many times.
  'page',
)

/** Of single approvals, those that requests ask for in one turn are read together; a list is read by itself, because it reads much. */
const historyOfOne = together<Uuid, History[]>(async (db, approvalIds) => {
  const rows = await db.run(payeeHistories, { approvalIds: [...new Set(approvalIds)] })
  return approvalIds.map((id) => rows.filter(({ approvalId }) => approvalId === id))
}, 16)

const historiesOf = (db: Db, approvalIds: readonly Uuid[]): Promise<History[]> => {
  const [id, ...others] = approvalIds
  return id !== undefined && others.length === 0 ? historyOfOne(db, id) : db.run(payeeHistories, { approvalIds })
}

const neverPaid: PayeeHistory = { paymentsCount: 0, lastPaidAt: null, typicalAmountMinor: null }

const deciders = prepare(
  'approvals.deciders',
  { workspaceId: 'uuid' },
  (orm, at) =>
    orm
      .select({ accountId: members.accountId, canSign: sql<boolean>`${sql.raw(canSign('accounts.id'))}` })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .where(
        and(
          eq(members.workspaceId, at.workspaceId),
          eq(members.status, 'active'),
          sql`${members.role} in ${sql.raw(namesSql(decidingRoles))}`,
          eq(accounts.status, 'active'),
        ),
      )
      .orderBy(asc(members.id)),
  'joined',
)

type Decider = { accountId: Uuid; canSign: boolean }

const payeeOf = (history: History | undefined): PayeeHistory => {
  if (!history) return neverPaid
  const { paymentsCount, lastPaidAt, lastPaid } = history
  return { paymentsCount, lastPaidAt, typicalAmountMinor: typicalAmount(lastPaid) }
}

/** Of records that are read again and again: a list of what waits is opened often, and changes seldom. */
const contextOf = madeOnce(
  (
    record: ApprovalRecord,
    history: History | undefined,
    availableMinor: Minor,
    mayDecide: readonly Decider[],
    mayHaveBeenSent: number,
  ): ApprovalContext => {
    const { approval, payment } = record
    // As when a decision is made: an account whose decision counts need not decide again, and the initiator cannot where duties are separate.
    const excluded = new Set([
      ...currentDecisions(record)
        .filter((decision) => counts(record, decision))
        .map(({ accountId }) => accountId),
      ...(approval.separationOfDuties ? [payment.initiatorAccountId] : []),
    ])
    return {
      payee: approval.batchId === null ? payeeOf(history) : null,
      availableAfterMinor: availableMinor,
      eligibleApprovers: mayDecide
        .filter((decider) => approval.approvalProof === 'any' || decider.canSign)
        .map(({ accountId }) => accountId)
        .filter((id) => !excluded.has(id)),
      mayHaveBeenSent,
    }
  },
)

/** By approval; after a loss of writes, and never otherwise: by the same rule as when they are sent. */
const countLost = async ({ db, rails, clock }: ContextDeps, records: readonly ApprovalRecord[]): Promise<Map<Uuid, number>> => {
  const older = records.filter(({ approval, olderThanLoss }) => olderThanLoss && approval.status === 'pending')
  if (older.length === 0) return new Map()
  const items = await readItemsOf(
    db,
    older.flatMap(({ approval }) => approval.batchId ?? []),
  )
  const idsOf = ({ approval, payment }: ApprovalRecord) =>
    approval.batchId === null ? [payment.id] : items.filter(({ batchId }) => batchId === approval.batchId).map(({ id }) => id)
  const paidTwice = await thoseThatMayBePaidTwice(db, rails, older.flatMap(idsOf), clock.now())
  return new Map(older.map((record) => [record.approval.id, idsOf(record).filter((id) => paidTwice.has(id)).length]))
}

/**
 * Reads what is known without the approvals themselves: a route of one approval sends these statements together with those that read it.
 */
export const readContexts = async (
  deps: ContextDeps,
  workspace: Pick<Principal['workspace'], 'id' | 'owningAccountId'>,
  approvalIds: readonly Uuid[],
): Promise<(records: readonly ApprovalRecord[]) => Promise<(record: ApprovalRecord) => ApprovalContext>> => {
  const { db } = deps
  const [histories, mayDecide, { availableMinor }] = await Promise.all([
    historiesOf(db, approvalIds),
    db.run(deciders, { workspaceId: workspace.id }),
    // The amount is held already while the payment waits, so the available balance is the one after the payment.
    getBalance(db, workspace.owningAccountId),
  ])
  const historyOf = new Map(histories.map((history) => [history.approvalId, history]))
  return async (records) => {
    const lost = await countLost(deps, records)
    return (record) => {
      const { id } = record.approval
      return contextOf(record, historyOf.get(id), availableMinor, mayDecide, lost.get(id) ?? 0)
    }
  }
}
