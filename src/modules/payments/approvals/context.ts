import { and, asc, eq, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { canSign } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import type { Principal } from '../../../auth/principal.ts'
import { type Db, first } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { payments } from '../../../db/tables/payments.ts'
import { members } from '../../../db/tables/workspaces.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { toSamePayee } from '../../beneficiaries/payee-queries.ts'
import { type ApprovalRecord, counts, currentDecisions } from './queries.ts'

/**
 * Information that helps to decide and is not part of the approval itself: earlier payments to this payee, what the limits leave, who else
 * may decide.
 */
export type ApprovalContext = {
  paymentsCount: number
  lastPaidAt: Date | null
  typicalAmountMinor: Minor | null
  availableAfterMinor: Minor
  eligibleApprovers: Uuid[]
}

const earlier = alias(payments, 'earlier')

/**
 * Payments to the same payee under any name, in this workspace: a fingerprint belongs to one workspace. At a paybill those to the same
 * account. The median, because one unusual payment does not move it.
 */
const payeeHistory = prepare('approvals.payee_history', { approvalId: 'uuid' }, (orm, at) =>
  orm
    .select({
      paymentsCount: sql<number>`count(*)::int`,
      lastPaidAt: sql<Date | null>`max(${earlier.completedAt})`,
      typicalAmountMinor: sql<Minor | null>`percentile_disc(0.5) within group (order by ${earlier.amountMinor})`,
    })
    .from(approvals)
    .innerJoin(payments, eq(payments.id, approvals.paymentId))
    .innerJoin(earlier, and(sql.raw(toSamePayee('earlier', 'payments')), ne(earlier.id, payments.id)))
    .where(and(eq(approvals.id, at.approvalId), sql`${earlier.status} in ${sql.raw(paidPaymentsSql)}`)),
)

const deciders = prepare('approvals.deciders', { workspaceId: 'uuid' }, (orm, at) =>
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
)

/** Reads what is known without the approval itself: a route sends these statements together with those that read the approval. */
export const readContext = async (
  db: Db,
  workspace: Pick<Principal['workspace'], 'id' | 'owningAccountId'>,
  approvalId: Uuid,
): Promise<(record: ApprovalRecord) => ApprovalContext> => {
  const [history, mayDecide, { availableMinor }] = await Promise.all([
    first(db, payeeHistory, { approvalId }),
    db.run(deciders, { workspaceId: workspace.id }),
    // The amount is held already while the payment waits, so the available balance is the one after the payment.
    getBalance(db, workspace.owningAccountId),
  ])
  if (!history) throw new Error('a statement that always answers did not')
  return (record) => {
    // As when a decision is made: an account whose decision counts need not decide again, and the initiator cannot where duties are separate.
    const excluded = new Set([
      ...currentDecisions(record)
        .filter((decision) => counts(record, decision))
        .map(({ accountId }) => accountId),
      ...(record.approval.separationOfDuties ? [record.payment.initiatorAccountId] : []),
    ])
    return {
      ...history,
      availableAfterMinor: availableMinor,
      eligibleApprovers: mayDecide
        .filter((decider) => record.approval.approvalProof === 'any' || decider.canSign)
        .map(({ accountId }) => accountId)
        .filter((id) => !excluded.has(id)),
    }
  }
}
