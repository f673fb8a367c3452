import { createPaymentMandates } from '../mandates/for-payments.ts'
import { createPaymentApprovals } from './approvals/request.ts'
import { createBatchQueue } from './create/payment-batch.ts'
import { createPaymentQueue } from './create/payment-queue.ts'
import type { Deps } from './deps.ts'
import { createRefusals } from './refusals/record.ts'

type Parts = 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations' | 'jobs' | 'logger' | 'rails' | 'vault'

/** How payments and batches of them are asked for: decided in their queues, with what is refused recorded. */
export const createSubmissions = (
  parts: Pick<Deps, Parts>,
): Pick<Deps, 'approvals' | 'mandates' | 'refusals' | 'submitBatch' | 'submitPayment'> => {
  const refusals = createRefusals(parts)
  const ports = { approvals: createPaymentApprovals(parts), mandates: createPaymentMandates(parts.db, parts.contractWallets) }
  const deps = { ...parts, ...ports }
  return {
    ...ports,
    refusals,
    submitPayment: refusals.payments(createPaymentQueue(deps)),
    submitBatch: refusals.batches(createBatchQueue(deps)),
  }
}
