import { inTx } from '../../../db/client.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { createAccountQueue } from '../../../queue/account-queue.ts'
import { mandateStanding } from '../../mandates/for-payments.ts'
import type { Deps } from '../deps.ts'
import type { CreatedPayment, PaymentRequest, SubmitPayment } from '../request.ts'
import { decidePayments } from './decide-payments.ts'
import type { BatchDeps } from './write.ts'

/**
 * Requests for payments wait in the queue of accounts: when nothing is under way, a request is decided alone and at once; those that arrive
 * while a batch is under way are decided together, each with its own answer.
 */
export const createPaymentQueue = (deps: BatchDeps & Pick<Deps, 'contractWallets' | 'db' | 'logger'>): SubmitPayment => {
  const queue = createAccountQueue<PaymentRequest, CreatedPayment>({
    name: 'payments',
    logger: deps.logger,
    work: (requests, wait) => inTx(deps.db, (tx) => decidePayments(tx, deps, requests, wait)),
    mostShared: 2,
    mostWaiting: 2,
    mostQueued: 2_000,
  })
  return async (request) => {
    const { accountId, workspace } = request.principal
    const standing = await mandateStanding(deps, workspace.id, request.input.mandate_id)
    const locks = { exclusive: [workspace.owningAccountId], shared: [accountId] }
    return queue.submit(workspace.owningAccountId, { ...request, standing, locks, traceparent: currentTraceparent() })
  }
}
