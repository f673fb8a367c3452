import type { Principal } from '../../../auth/principal.ts'
import { emit, inTx, signal, type Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import { currentTraceparent } from '../../../lib/tracing.ts'
import { createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { keyUserOf, recordKeys } from '../../../queue/record-keys.ts'
import { writeAll } from '../../../queue/write-path.ts'
import { checkMandateSignature } from '../../mandates/for-payments.ts'
import type { Parts } from '../../parts.ts'
import type { CreatedPayment, DecisionParts, Deps, PaymentQueue, PaymentRequest } from '../request.ts'
import { type DecisionState, decideInTurn, readDecisionState } from './decide-in-turn.ts'
import { auditDenial, serialize, type Written, writePayments } from './write.ts'

const paymentKeys = recordKeys('payments', { path: '/v1/payments', kind: 'payment', permission: 'payment.read' })

/**
 * Creates payments in one transaction of two round trips. The first takes the locks and then reads all state; the second writes
 * and commits. Each request sees the usage of the earlier ones. A refusal affects no other payment and writes only its audit row.
 */
const createPayments = (
  tx: Tx,
  deps: DecisionParts,
  requests: readonly PaymentRequest[],
  wait: boolean,
): Promise<Outcome<CreatedPayment>[]> => {
  const accepted: Written[] = []
  return writeAll<PaymentRequest, Principal, DecisionState, CreatedPayment['answer']>(tx, requests, wait, {
    keys: paymentKeys,
    read: (tx) => readDecisionState(tx, deps.clock, requests),
    decide: async (tx, state, request, principal, index) => {
      const decided = decideInTurn(state, deps, { request, principal, index, at: tx.at })
      if ('refusal' in decided) {
        if (decided.denied) auditDenial(tx, principal, deps.config.CURRENCY, decided.denied)
        return decided.refusal
      }
      const { payment } = decided
      const written = serialize(decided, principal)
      accepted.push(written)
      return { id: payment.id, text: written.text, usedBy: keyUserOf(principal), status: payment.status }
    },
    write: (tx, { state }) => writePayments(tx, deps, accepted, state),
  })
}

/** Decides a request at once if the account is idle. Requests that arrive meanwhile form a group, each with its own answer. */
export const createPaymentQueue = (deps: DecisionParts & Pick<Parts, 'db' | 'logger'>): PaymentQueue =>
  createAccountQueue({
    name: 'payments',
    logger: deps.logger,
    work: (requests, wait) => inTx(deps.db, (tx) => createPayments(tx, deps, requests, wait)),
    maxShared: 2,
    maxWaiting: 2,
    maxQueued: 2_000,
  })

export const paymentAnswered = signal<{ outcome: string; seconds: number }>('payment answered')

/** Decides a request in a group with other waiting ones. Throws the error of a refused payment, and records the refusal. */
export const submitPayment = async (
  { contractWallets, db, paymentQueue, refusals }: Pick<Deps, 'contractWallets' | 'db' | 'paymentQueue' | 'refusals'>,
  request: Omit<PaymentRequest, 'locks' | 'mandateSignature' | 'traceparent'>,
): Promise<CreatedPayment> => {
  const start = performance.now()
  let outcome = 'error'
  const { principal, input } = request
  const account = principal.workspace.balanceAccountId
  try {
    const created = await refusals.recording({ kind: 'payment', principal, input }, async () => {
      const asking = { workspaceId: principal.workspace.id, requester: principal.originGrantId }
      const mandateSignature = await checkMandateSignature({ contractWallets, db }, input.mandate_id, asking)
      const locks = { exclusive: [account], shared: [principal.accountId] }
      return paymentQueue.submit(account, { ...request, mandateSignature, locks, traceparent: currentTraceparent() })
    })
    outcome = created.replayed ? 'replayed' : (created.answer.status ?? 'processing')
    return created
  } catch (error) {
    if (error instanceof Refusal) outcome = error.code
    throw error
  } finally {
    emit(db, paymentAnswered, { outcome, seconds: (performance.now() - start) / 1000 })
  }
}
