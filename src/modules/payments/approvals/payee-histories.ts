import { and, eq, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { payees } from '../../../db/tables/beneficiaries.ts'
import { payments } from '../../../db/tables/payments.ts'
import { together } from '../../../db/together.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { lastPaidSql, toSamePayee } from '../../beneficiaries/payee-queries.ts'

/** What was paid before to the payee of an approval's payment. */
export type History = { approvalId: Uuid; paymentsCount: number; lastPaidAt: Date | null; lastPaid: Minor[] }

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

/** Of those whose payee was paid before. */
export const historiesOf = (db: Db, approvalIds: readonly Uuid[]): Promise<History[]> => {
  const [id, ...others] = approvalIds
  return id !== undefined && others.length === 0 ? historyOfOne(db, id) : db.run(payeeHistories, { approvalIds })
}
