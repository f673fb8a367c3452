import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { Deps } from '../../deps.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'

/** Lets an approved payment go: to processing: the row itself is its place in the queue. */
export const startPayment = async (tx: Tx, deps: Deps, payment: PaymentRecord): Promise<PaymentRecord> => {
  const at = deps.clock.now()
  await tx.orm.update(payments).set({ status: 'processing', dispatchDueAt: at, updatedAt: at }).where(eq(payments.id, payment.id))
  const after: PaymentRecord = { ...payment, status: 'processing', dispatchDueAt: at, updatedAt: at }
  const { accountId, workspaceId } = payment
  await deps.appendEvents(tx, at, [{ type: 'payment.processing', accountId, workspaceId, data: presentPayment(after) }])
  tx.afterCommit(() => deps.jobs.wake('payments'))
  return after
}
