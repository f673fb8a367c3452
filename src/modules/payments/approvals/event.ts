import type { NewEvent } from '../../../events/append.ts'
import type { EventType } from '../../../events/types.ts'
import { presentApproval } from './present.ts'
import type { ApprovalRecord } from './queries.ts'

export const approvalEvent = (type: Extract<EventType, `approval.${string}`>, record: ApprovalRecord): NewEvent => {
  const { approval, payment } = record
  const { accountId, workspaceId } = payment
  const signing = { approve: approval.approveMessage, reject: approval.rejectMessage }
  const kept = { signing, decision: payment.snapshot.decision }
  return { type, accountId, workspaceId, paymentId: approval.paymentId, data: presentApproval(record), kept }
}
