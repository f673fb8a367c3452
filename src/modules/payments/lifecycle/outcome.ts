import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { NewEvent } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { lockBalance, postHold, transfer } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Evidence } from '../../../rails/rail.ts'
import { alertAfterCommit } from '../../alerts.ts'
import type { Deps } from '../../deps.ts'
import { balanceUpdated } from '../../identity/accounts/service.ts'
import { settleMandate } from '../create/mandate.ts'
import { presentPayment } from '../present.ts'
import { lockPayment, ownerOfPayment, type PaymentRecord } from '../queries.ts'
import { resolveAttempts } from './attempts/queries.ts'
import { isReceiptTaken } from './attempts/receipts.ts'
import { actorOf, type Verdict, type Witness } from './attempts/subject.ts'
import { isUnderWay, judgePayment, type PaymentMove } from './outcome-rules.ts'
import { releasePayment } from './release.ts'

type Step = { payment: PaymentRecord; evidence: Evidence; witness: Witness }
type Change = { status: 'succeeded' | 'unknown' | 'returned' } & Partial<Pick<PaymentRecord, 'providerReceipt' | 'completedAt'>>

/** Writes a change of state with what belongs to it: event, audit row, and the balance when money moved. */
const change = async (tx: Tx, deps: Deps, { payment, witness }: Step, to: Change, balance?: NewEvent): Promise<PaymentRecord> => {
  const at = deps.clock.now()
  const after: PaymentRecord = { ...payment, ...to, dispatchDueAt: null, updatedAt: at }
  await tx.orm
    .update(payments)
    .set({ ...to, dispatchDueAt: null, updatedAt: at })
    .where(eq(payments.id, payment.id))
  const { accountId, workspaceId } = after
  const { status } = to
  const event: NewEvent = { type: `payment.${status}`, accountId, workspaceId, data: presentPayment(after) }
  await deps.appendEvents(tx, at, balance ? [event, balance] : [event])
  await audit(tx, actorOf(witness), at, {
    action: `payment.${status}`,
    workspaceId,
    subject: { type: 'payment', id: payment.id },
    before: { status: payment.status },
    after: { status, provider_receipt: after.providerReceipt },
  })
  return after
}

const receiptOf = (evidence: Evidence): string | null => ('receipt' in evidence ? evidence.receipt : null)

const succeed = async (tx: Tx, deps: Deps, step: Step): Promise<PaymentRecord> => {
  const at = deps.clock.now()
  const { balance } = await postHold(tx, step.payment.holdTransferId, at)
  const to = { status: 'succeeded', providerReceipt: receiptOf(step.evidence), completedAt: at } as const
  const after = await change(tx, deps, step, to, await balanceUpdated(tx, deps, step.payment.accountId, balance))
  await settleMandate(tx, deps, after)
  return after
}

/** The money came back from the rail. What the payment was charged to its limits stays: it was sent. */
const returnPayment = async (tx: Tx, deps: Deps, step: Step): Promise<void> => {
  const at = deps.clock.now()
  const { id, accountId, amountMinor } = step.payment
  const reference = { type: 'payment', id } as const
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'rail_clearing',
    reference,
    memo: 'returned',
    at,
  })
  await change(tx, deps, step, { status: 'returned', completedAt: at }, await balanceUpdated(tx, deps, accountId, balance))
}

const markUnknown = async (tx: Tx, deps: Deps, step: Step): Promise<void> => {
  const { payment, evidence } = step
  await change(tx, deps, step, { status: 'unknown' })
  const code = evidence.kind === 'unknown' ? evidence.code : 'mismatch'
  alertAfterCommit(tx, deps, 'payment_unknown', { subject: 'payment', id: payment.id, code })
}

const fail = (tx: Tx, deps: Deps, { payment, evidence, witness }: Step) => {
  const failure = evidence.kind === 'failed' ? evidence : undefined
  return releasePayment(tx, deps, payment, 'failed', actorOf(witness), failure)
}

const transitions: Readonly<Record<PaymentMove, (tx: Tx, deps: Deps, step: Step) => Promise<unknown>>> = {
  succeed,
  fail,
  mark_unknown: markUnknown,
  return: returnPayment,
  succeed_and_return: async (tx, deps, step) => returnPayment(tx, deps, { ...step, payment: await succeed(tx, deps, step) }),
  complete: (tx, deps, { payment, evidence }) => {
    const missing = { providerReceipt: receiptOf(evidence), updatedAt: deps.clock.now() }
    return tx.orm.update(payments).set(missing).where(eq(payments.id, payment.id))
  },
}

/**
 * Ends a payment on evidence, whoever brings it, how often and in which order. Takes the owning ledger account's lock, then the
 * payment's. A mismatch moves nothing, but puts a payment that was under way in doubt. After an operator's word nobody asks any more.
 */
export const settlePayment = async (tx: Tx, deps: Deps, id: Uuid, evidence: Evidence, witness: Witness): Promise<Verdict> => {
  const ownerId = await ownerOfPayment(tx, id)
  if (!ownerId) throw new Error('a payment that must exist is missing')
  await lockBalance(tx, ownerId)
  const payment = await lockPayment(tx, id)
  const step: Step = { payment, evidence, witness }
  const receipt = isUnderWay(payment) || evidence.kind === 'succeeded' ? receiptOf(evidence) : null
  const taken = receipt !== null && (await isReceiptTaken(tx, payment.rail, receipt, payment.id))
  const judged = judgePayment(payment, evidence, taken)
  if (judged.move !== null) {
    await transitions[judged.move](tx, deps, step)
    if (witness.kind === 'operator') await resolveAttempts(tx, id, deps.clock.now())
    return 'applied'
  }
  if (judged.verdict === 'mismatch' && payment.status === 'processing') await markUnknown(tx, deps, step)
  return judged.verdict
}
