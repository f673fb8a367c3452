import { eq, sql } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { first, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { grants } from '../../../db/tables/grants.ts'
import { isWaiting } from '../../../db/transitions.ts'
import { conflict, found, notFound, Refusal } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { moveBatch } from '../batch/change.ts'
import { type BatchRecord, findBatch, readItemIds } from '../batch/queries.ts'
import { endPayments, releasePayment } from '../lifecycle/end.ts'
import { lockPaymentIn, lockPaymentsWithAccounts, type PaymentRecord } from '../queries.ts'
import { cancelPending, endWhole } from './end.ts'
import { lockApprovalOf, lockWhole } from './lock.ts'
import { findApproval } from './queries.ts'

const readBelow = prepare(
  'payments.asked_below',
  { grantId: 'uuid', asking: 'uuid' },
  (orm, at) =>
    orm
      .select({ isBelow: sql<boolean>`${at.grantId} = any(${grants.ancestorIds} || ${grants.id})` })
      .from(grants)
      .where(eq(grants.id, at.asking)),
  'joined',
)

const isAtOrBelow = async (tx: Tx, { grant }: Principal, asking: Uuid | null): Promise<boolean> => {
  if (!grant || grant.id === asking) return true
  return asking !== null && ((await first(tx, readBelow, { grantId: grant.id, asking }))?.isBelow ?? false)
}

const requireOwn = async (tx: Tx, principal: Principal, asking: Uuid | null): Promise<void> => {
  if (!(await isAtOrBelow(tx, principal, asking)))
    throw new Refusal('forbidden', {
      message: 'A delegated credential cancels only payments that it, or a grant below it, has initiated.',
    })
}

/** Cancels a payment that still waits for its approval or for its time; a second call gives the same answer. */
export const cancelPayment = async (tx: Tx, principal: Principal, id: Uuid): Promise<PaymentRecord> => {
  const [payment, approval] = await Promise.all([
    lockPaymentIn(tx, principal.workspace.id, id),
    lockApprovalOf(tx, principal.workspace.id, id),
  ])
  if (!payment) throw notFound()
  if (payment.approvalId && !approval) throw new Error('an approval that must exist is missing')
  await requireOwn(tx, principal, payment.grantId)
  if (payment.status === 'cancelled') return payment
  if (payment.batchId && isWaiting(payment.status))
    throw conflict('This payment is an item of a batch, which is approved and cancelled as a whole.', 'status', {
      status: payment.status,
      batch_id: formatId('payment_batch', payment.batchId),
    })
  if (!isWaiting(payment.status))
    throw conflict(`A payment that is ${payment.status} cannot be cancelled.`, 'status', { status: payment.status })
  const cancelled = await releasePayment(tx, payment, { to: 'cancelled', actor: principal })
  if (approval) await cancelPending(tx, principal, { ...approval, payment: cancelled })
  return cancelled
}

/** A batch that waits for its time alone: it needs no approval, or has it. */
const cancelScheduled = async (tx: Tx, actor: Principal, id: Uuid): Promise<void> => {
  const payments = await lockPaymentsWithAccounts(tx, await readItemIds(tx, id))
  await endPayments(
    tx,
    payments.map((payment) => ({ payment, to: 'cancelled', actor })),
  )
  await moveBatch(tx, actor, id, 'cancelled')
}

/** Cancels a batch that still waits for its approval or for its time, with all of its payments; a second call gives the same answer. */
export const cancelBatch = async (tx: Tx, principal: Principal, id: Uuid): Promise<BatchRecord> => {
  const read = async (): Promise<BatchRecord> => {
    return found(await findBatch(tx, principal.workspace.id, id))
  }
  const unlocked = (await read()).batch
  const waiting = unlocked.approvalId && (await findApproval(tx, unlocked.approvalId))
  const approval = waiting ? await lockWhole(tx, waiting) : null
  if (!approval) await lockPaymentsWithAccounts(tx, await readItemIds(tx, id))
  const { batch } = await read()
  await requireOwn(tx, principal, batch.grantId)
  if (batch.status === 'cancelled') return read()
  if (!isWaiting(batch.status))
    throw conflict(`A batch that is ${batch.status} cannot be cancelled.`, 'status', { status: batch.status })
  if (approval?.approval.status === 'pending') await endWhole(tx, principal, approval, 'cancelled')
  else await cancelScheduled(tx, principal, id)
  return read()
}
