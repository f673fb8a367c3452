import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { Deps } from '../../deps.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'

/** Lets an approved payment go: to processing, with the job that will send it left in the same transaction. */
export const startPayment = async (tx: Tx, deps: Deps, payment: PaymentRecord): Promise<PaymentRecord> => {
  const at = deps.clock.now()
  await tx.orm.update(payments).set({ status: 'processing', updatedAt: at }).where(eq(payments.id, payment.id))
  const after: PaymentRecord = { ...payment, status: 'processing', updatedAt: at }
  const { accountId, workspaceId } = payment
  await deps.appendEvents(tx, at, [{ type: 'payment.processing', accountId, workspaceId, data: presentPayment(after) }])
  await deps.jobs.enqueue(tx, 'payments.dispatch', { id: payment.id })
  return after
}
