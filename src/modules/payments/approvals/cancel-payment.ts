import type { Principal } from '../../../auth/principal.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { conflict, notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { releasePayment } from '../lifecycle/end.ts'
import { findPayment, lockPaymentWithAccount, type PaymentRecord } from '../queries.ts'
import { cancelApproval } from './end.ts'

const readBelow = statement('payments.asked_below', 'select $1 = any(ancestor_ids || id) as below from grants where id = $2')

const isAtOrBelow = async (tx: Tx, { grant }: Principal, asking: Uuid | null): Promise<boolean> => {
  if (!grant || grant.id === asking) return true
  return asking !== null && ((await tx.query<{ below: boolean }>(readBelow, [grant.id, asking]))[0]?.below ?? false)
}

/** Cancels a payment that still waits for its approval; a second call gives the same answer. */
export const cancelPayment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  principal: Principal,
  id: Uuid,
): Promise<PaymentRecord> => {
  if (!(await findPayment(tx, principal.workspace.id, id))) throw notFound()
  const payment = await lockPaymentWithAccount(tx, id)
  if (!(await isAtOrBelow(tx, principal, payment.grantId)))
    throw new Refusal('forbidden', {
      message: 'A delegated credential cancels only payments that it, or a grant below it, has initiated.',
    })
  if (payment.status === 'cancelled') return payment
  if (payment.status !== 'pending_approval')
    throw conflict(`A payment that is ${payment.status} cannot be cancelled.`, 'status', { status: payment.status })
  const cancelled = await releasePayment(tx, deps, payment, { to: 'cancelled', actor: principal })
  await cancelApproval(tx, deps, principal, cancelled)
  return cancelled
}
