import type { NewEvent } from '../../../events/append.ts'
import type { EventType } from '../../../events/types.ts'
import { presentApproval } from './present.ts'
import type { ApprovalRecord } from './queries.ts'

export const approvalEvent = (type: Extract<EventType, `approval.${string}`>, record: ApprovalRecord): NewEvent => {
  const { accountId, workspaceId } = record.payment
  return { type, accountId, workspaceId, data: presentApproval(record) }
}
