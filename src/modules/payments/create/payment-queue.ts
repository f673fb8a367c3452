import type { Principal } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, type RecordAnswer, recordKeys } from '../../../queue/record-keys.ts'
import { writeAll } from '../../../queue/write-path.ts'
import type { Deps } from '../deps.ts'
import type { CreatedPayment, PaymentRequest, SubmitPayment } from '../request.ts'
import type { Denied } from './decide.ts'
import { decideNext, readSpending, type Spending } from './spending.ts'
import { type BatchDeps, type Written, writePayments, writtenOut } from './write.ts'

const paymentKeys = recordKeys('payments', { path: '/v1/payments', kind: 'payment', permission: 'payment.read' })

/**
 * Decides requests for payments one after the other on the write path, in ONE transaction of two round trips: the first takes the locks and
 * reads everything behind them, the second writes everything and commits. Each request sees what the earlier ones used, and each has its own
 * answer: a refusal affects no other payment, and writes nothing but its audit row.
 *
 * Locks: the owning accounts exclusively, and the callers' own accounts at least shared. `wait`: whether to wait for them. The clock is read
 * once, after the locks.
 */
const decidePayments = (
  tx: Tx,
  deps: BatchDeps,
  requests: readonly PaymentRequest[],
  wait: boolean,
): Promise<Outcome<CreatedPayment>[]> => {
  const accepted: Written[] = []
  const denied: Denied[] = []
  return writeAll<PaymentRequest, Principal, Spending, RecordAnswer>(tx, requests, wait, {
    keys: paymentKeys,
    again: (answer) => answer,
    read: (tx) => readSpending(tx, deps, requests),
    decide: async (tx, spending, ask, principal, index) => {
      const decided = decideNext(spending, deps.config, deps.rails, { ask, principal, index, at: tx.at })
      if (decided instanceof Refusal) return decided
      if (decided.kind === 'denied') {
        denied.push(decided)
        return decided.refusal
      }
      const { payment } = decided
      if (payment.executeAt)
        payment.originGrantId = await deps.approvals.initiatingGrant(tx, principal.credential, payment.grantId)
      const written = writtenOut(decided)
      accepted.push(written)
      return { id: payment.id, text: written.text, by: keyUserOf(principal) }
    },
    write: (tx, { state }) => writePayments(tx, deps.approvals, deps.config, { accepted, denied, state }),
  })
}

/**
 * Requests for payments wait in the queue of accounts: when nothing is under way, a request is decided alone and at once; those that arrive
 * while a batch is under way are decided together, each with its own answer.
 */
export const createPaymentQueue = (deps: BatchDeps & Pick<Deps, 'db' | 'logger'>): SubmitPayment => {
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
    const standing = await deps.mandates.standing(workspace.id, request.input.mandate_id)
    const locks = { exclusive: [workspace.owningAccountId], shared: [accountId] }
    return queue.submit(workspace.owningAccountId, { ...request, standing, locks, traceparent: currentTraceparent() })
  }
}
