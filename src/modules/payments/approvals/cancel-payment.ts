import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { releasePayment } from '../lifecycle/end.ts'
import { findPayment, lockPaymentWithAccount, type PaymentRecord } from '../queries.ts'
import { cancelApproval } from './end.ts'

/** Cancels a payment that still waits for its approval; a second call gives the same answer. */
export const cancelPayment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  principal: Principal,
  id: Uuid,
): Promise<PaymentRecord> => {
  if (!(await findPayment(tx, principal.workspace.id, id))) throw notFound()
  const payment = await lockPaymentWithAccount(tx, id)
  if (payment.status === 'cancelled') return payment
  if (payment.status !== 'pending_approval')
    throw conflict(`A payment that is ${payment.status} cannot be cancelled.`, 'status', { status: payment.status })
  const cancelled = await releasePayment(tx, deps, payment, { to: 'cancelled', actor: principal })
  await cancelApproval(tx, deps, principal, cancelled)
  return cancelled
}
