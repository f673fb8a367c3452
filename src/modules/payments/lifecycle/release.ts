import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { voidHold } from '../../../ledger/ledger.ts'
import type { Failure } from '../../../lib/failure-codes.ts'
import type { Deps } from '../../deps.ts'
import { balanceUpdated } from '../../identity/accounts/service.ts'
import { releaseCharges } from '../create/counters.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'

export type Unpaid = 'rejected' | 'cancelled' | 'expired' | 'failed'

/**
 * Ends a payment that will not be paid: the hold and every charge are given back. The owning ledger account and the payment are
 * locked by the caller, who has checked that its state allows this end.
 */
export const releasePayment = async (
  tx: Tx,
  deps: Deps,
  payment: PaymentRecord,
  to: Unpaid,
  actor: Actor,
  failure?: Failure,
): Promise<PaymentRecord> => {
  const at = deps.clock.now()
  const { balance } = await voidHold(tx, payment.holdTransferId, at)
  await releaseCharges(tx, payment)
  const change = {
    status: to,
    failureCode: failure?.code ?? null,
    failureMessage: failure?.message ?? null,
    providerCode: failure?.providerCode ?? null,
    dispatchDueAt: null,
    updatedAt: at,
    completedAt: at,
  }
  await tx.orm.update(payments).set(change).where(eq(payments.id, payment.id))
  const after = { ...payment, ...change }
  const { accountId, workspaceId } = payment
  await deps.appendEvents(tx, at, [
    { type: `payment.${to}`, accountId, workspaceId, data: presentPayment(after) },
    await balanceUpdated(tx, deps, accountId, balance),
  ])
  await audit(tx, actor, at, {
    action: `payment.${to}`,
    workspaceId,
    subject: { type: 'payment', id: payment.id },
    before: { status: payment.status },
    after: { status: to, ...(failure && { failure_code: failure.code, provider_code: failure.providerCode }) },
  })
  return after
}
