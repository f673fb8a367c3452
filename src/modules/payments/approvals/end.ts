import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRecord } from '../queries.ts'
import { presentApproval } from './present.ts'
import { type ApprovalRecord, lockApproval } from './queries.ts'

export type ApprovalEnd = 'approved' | 'rejected' | 'expired' | 'cancelled'

/** Ends an approval: status, event, audit. The caller holds all the locks and changes the payment. */
export const endApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  record: ApprovalRecord,
  to: ApprovalEnd,
): Promise<ApprovalRecord> => {
  const { at } = tx
  const { approval, payment } = record
  await tx.orm.update(approvals).set({ status: to, updatedAt: at }).where(eq(approvals.id, approval.id))
  const after: ApprovalRecord = { ...record, approval: { ...approval, status: to, updatedAt: at } }
  const { accountId, workspaceId } = payment
  await deps.appendEvents(tx, at, [{ type: `approval.${to}`, accountId, workspaceId, data: presentApproval(after) }])
  await audit(tx, actor, at, { action: `approval.${to}`, workspaceId, subject: { type: 'approval', id: approval.id } })
  return after
}

/** The approval of a payment that was cancelled: it can no longer be decided. */
export const cancelApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  payment: PaymentRecord,
): Promise<void> => {
  if (!payment.approvalId) return
  const record = await lockApproval(tx, payment.approvalId)
  if (record.approval.status === 'pending') await endApproval(tx, deps, actor, record, 'cancelled')
}
