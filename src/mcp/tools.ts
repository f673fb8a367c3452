import { z } from 'zod'
import { argumentsFor, type Tool } from './tool.ts'
import { accountTools, eventTools, topupTools } from './tools/account.ts'
import { approvalTools, mandateTools } from './tools/approvals.ts'
import { batchTools } from './tools/batches.ts'
import { beneficiaryTools } from './tools/beneficiaries.ts'
import { paymentTools } from './tools/payments.ts'

/** In a fixed order, because a client may store the list in a model's context. */
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

const Call = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullish() }),
})

/** The tool that a message calls, its arguments, and the message without empty arguments. */
export const calledBy = (message: unknown) => {
  const { data } = Call.safeParse(message)
  const tool = tools.find(({ name }) => name === data?.params.name)
  if (!data || !tool) return undefined
  const input = argumentsFor(tool, data.params.arguments)
  return { tool, input, message: { ...data, params: { ...data.params, arguments: input } } }
}
