import type { Tool } from './tool.ts'
import { accountTools } from './tools/account.ts'
import { approvalTools } from './tools/approvals.ts'
import { batchTools } from './tools/batches.ts'
import { beneficiaryTools } from './tools/beneficiaries.ts'
import { eventTools } from './tools/events.ts'
import { mandateTools } from './tools/mandates.ts'
import { paymentTools } from './tools/payments.ts'
import { topupTools } from './tools/topups.ts'

/** In a fixed order: a client may keep the list in a model's context. */
export const tools: readonly Tool[] = [
  ...accountTools,
  ...beneficiaryTools,
  ...paymentTools,
  ...batchTools,
  ...approvalTools,
  ...mandateTools,
  ...topupTools,
  ...eventTools,
]
