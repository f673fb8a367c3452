import { createBatchQueue } from './create/payment-batch.ts'
import { createPaymentQueue } from './create/payment-queue.ts'
import type { BatchDeps } from './create/write.ts'
import type { Deps } from './deps.ts'
import { createRefusals } from './refusals/record.ts'

/** How payments and batches of them are asked for: decided in their queues, with what is refused recorded. */
export const createSubmissions = (
  deps: BatchDeps & Pick<Deps, 'contractWallets' | 'db' | 'logger'>,
): Pick<Deps, 'submitPayment' | 'submitBatch' | 'refusals'> => {
  const refusals = createRefusals(deps)
  return {
    refusals,
    submitPayment: refusals.payments(createPaymentQueue(deps)),
    submitBatch: refusals.batches(createBatchQueue(deps)),
  }
}
