import { and, desc, eq, gt, lt } from 'drizzle-orm'
import { lockAccount } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
import { payments } from '../../db/tables/payments.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'

export type PaymentRecord = typeof payments.$inferSelect
export type PaymentStatus = PaymentRecord['status']

export const findPayment = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PaymentRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(payments)
      .where(and(eq(payments.workspaceId, workspaceId), eq(payments.id, id)))
  )[0]

/** Whose money a payment moves: looked up without a lock, because that account's lock comes first. */
export const ownerOfPayment = async (db: Db, id: Uuid): Promise<Uuid | undefined> =>
  (await db.orm.select({ accountId: payments.accountId }).from(payments).where(eq(payments.id, id)))[0]?.accountId

/** The payment, locked. The owning ledger account's lock is held already. */
export const lockPayment = async (tx: Tx, id: Uuid): Promise<PaymentRecord> => {
  const [payment] = await tx.orm.select().from(payments).where(eq(payments.id, id)).for('update')
  if (!payment) throw new Error('a payment that must exist is missing')
  return payment
}

/**
 * The one way to lock a payment: its owning account first, then its row. Throws `not_found` for a payment that does not exist.
 */
export const lockPaymentWithAccount = async (tx: Tx, id: Uuid): Promise<PaymentRecord> => {
  const accountId = await ownerOfPayment(tx, id)
  if (!accountId) throw notFound()
  const [, payment] = await Promise.all([lockAccount(tx, accountId), lockPayment(tx, id)])
  return payment
}

export type PaymentFilter = { status?: PaymentStatus; beneficiaryId?: Uuid; createdAfter?: Date; createdBefore?: Date }

/** The payments of a workspace that a filter finds: one definition for the list, its totals and its export. */
export const matching = (workspaceId: Uuid, filter: PaymentFilter) =>
  and(
    eq(payments.workspaceId, workspaceId),
    filter.status ? eq(payments.status, filter.status) : undefined,
    filter.beneficiaryId ? eq(payments.beneficiaryId, filter.beneficiaryId) : undefined,
    filter.createdAfter ? gt(payments.createdAt, filter.createdAfter) : undefined,
    filter.createdBefore ? lt(payments.createdAt, filter.createdBefore) : undefined,
  )

export const listPayments = (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  filter: PaymentFilter,
): Promise<PaymentRecord[]> =>
  db.orm
    .select()
    .from(payments)
    .where(and(matching(workspaceId, filter), page.before ? lt(payments.id, page.before) : undefined))
    .orderBy(desc(payments.id))
    .limit(page.take)
