import type { Tx } from '../../../db/client.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import type { ReleasedPaymentStatus } from '../../../db/transitions.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { type Failure, failure } from '../../../lib/failure-codes.ts'
import { moveBatch } from '../batch/change.ts'
import { findBatches } from '../batch/queries.ts'
import { endPayments } from '../lifecycle/end.ts'
import type { PaymentRecord } from '../queries.ts'
import { approvalEvent } from './event.ts'
import { type LockedApproval, lockApproval } from './lock.ts'
import type { ApprovalRecord } from './queries.ts'

export type ApprovalEnd = 'approved' | 'rejected' | 'expired' | 'cancelled'

const end = prepareUpdate('approvals.end', approvals, ['status', 'updatedAt', 'noticeDueAt'])

/** Ends an approval: status, event, audit. The caller holds all the locks and changes the payment. */
export const endApproval = async (tx: Tx, actor: Actor, record: ApprovalRecord, to: ApprovalEnd): Promise<ApprovalRecord> => {
  const { at } = tx
  const { approval, payment } = record
  end(tx, approval.id, { status: to, updatedAt: at, noticeDueAt: at })
  const after: ApprovalRecord = { ...record, approval: { ...approval, status: to, updatedAt: at } }
  await appendEvents(tx, [approvalEvent(`approval.${to}`, after)])
  const subject = { type: 'approval', id: approval.id }
  await audit(tx, actor, at, { action: `approval.${to}`, workspaceId: payment.workspaceId, subject })
  return after
}

type WholeEnd = 'rejected' | 'expired' | 'cancelled'

/** How a scheduled payment ends with its approval: it never waited for the approval alone. */
const scheduledEnds = {
  rejected: { to: 'cancelled' },
  cancelled: { to: 'cancelled' },
  expired: { to: 'failed', failure: failure('approval_expired') },
} as const satisfies Record<WholeEnd, { to: ReleasedPaymentStatus; failure?: Failure }>

/**
 * Ends everything that waits for an approval in the same way: its payments, with their holds and charges given back, its batch, itself. The
 * caller holds all the locks.
 */
export const endWhole = async (tx: Tx, actor: Actor, record: LockedApproval, to: WholeEnd): Promise<LockedApproval> => {
  const { approval } = record
  const payments = await endPayments(
    tx,
    record.payments.map((payment) => ({ payment, actor, ...(payment.status === 'scheduled' ? scheduledEnds[to] : { to }) })),
  )
  const batchEnd = record.payment.status === 'scheduled' ? scheduledEnds[to].to : to
  if (approval.batchId) await moveBatch(tx, actor, approval.batchId, batchEnd)
  const after = await refreshed(tx, record, payments)
  return { ...(await endApproval(tx, actor, after, to)), payments }
}

/** The record as its event and its answer show it, after its payments were changed. */
export const refreshed = async (tx: Tx, record: LockedApproval, payments: PaymentRecord[]): Promise<LockedApproval> => ({
  ...record,
  payments,
  payment: payments.find(({ id }) => id === record.payment.id) ?? record.payment,
  batch: record.batch && ((await findBatches(tx, [record.batch.id]))[0]?.batch ?? record.batch),
})

/** What was cancelled can no longer be decided. The approval is locked. */
export const cancelPending = async (tx: Tx, actor: Actor, record: ApprovalRecord): Promise<void> => {
  if (record.approval.status === 'pending') await endApproval(tx, actor, record, 'cancelled')
}

/** The approval of a payment that was cancelled. */
export const cancelApproval = async (tx: Tx, actor: Actor, payment: PaymentRecord): Promise<void> => {
  if (payment.approvalId) await cancelPending(tx, actor, await lockApproval(tx, payment.approvalId))
}
