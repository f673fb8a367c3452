import type { Tool } from './tool.ts'
import { accountTools, eventTools, topupTools } from './tools/account.ts'
import { approvalTools, mandateTools } from './tools/approvals.ts'
import { batchTools } from './tools/batches.ts'
import { beneficiaryTools } from './tools/beneficiaries.ts'
import { paymentTools } from './tools/payments.ts'

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
