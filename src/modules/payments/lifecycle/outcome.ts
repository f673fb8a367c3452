import type { Tx } from '../../../db/client.ts'
import { isUnderWay } from '../../../db/transitions.ts'
import { postHold, transfer } from '../../../ledger/ledger.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { Evidence } from '../../../rails/rail.ts'
import { alertAfterCommit } from '../../alerts.ts'
import type { Deps } from '../../deps.ts'
import { balanceUpdated } from '../../identity/accounts/service.ts'
import { exhaustMandateIfSpent } from '../../mandates/for-payments.ts'
import type { PaymentRecord } from '../queries.ts'
import { resolveAttempts } from './attempts/queries.ts'
import { isReceiptTaken } from './attempts/receipts.ts'
import { actorOf, type EvidenceSource, type SettleDeps, type Verdict } from './attempts/subject.ts'
import { judgePayment, type PaymentMove } from './outcome-rules.ts'
import { releasePayment } from './release.ts'
import { writeChange } from './write-change.ts'

type Step = { payment: PaymentRecord; evidence: Evidence; source: EvidenceSource }

const receiptOf = (evidence: Evidence): string | null => ('receipt' in evidence ? evidence.receipt : null)

const succeed = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  { payment, evidence, source }: Step,
): Promise<PaymentRecord> => {
  const { balance } = await postHold(tx, payment.holdTransferId, tx.at)
  const receipt = receiptOf(evidence)
  const after = await writeChange(
    tx,
    deps,
    payment,
    { status: 'succeeded', providerReceipt: receipt, completedAt: tx.at },
    {
      actor: actorOf(source),
      balance: await balanceUpdated(tx, deps, payment.accountId, balance),
      after: { provider_receipt: receipt },
    },
  )
  if (after.mandateId) await exhaustMandateIfSpent(tx, deps, after.mandateId)
  return after
}

/** The rail returned the money. The payment still counts against its limits: it was sent. */
const returnPayment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  { payment, source }: Step,
): Promise<PaymentRecord> => {
  const { id, accountId, amountMinor } = payment
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'rail_clearing',
    reference: { type: 'payment', id },
    memo: 'returned',
    at: tx.at,
  })
  const updated = await balanceUpdated(tx, deps, accountId, balance)
  return writeChange(tx, deps, payment, { status: 'returned', completedAt: tx.at }, { actor: actorOf(source), balance: updated })
}

const markUnknown = (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'appendEvents'>,
  { payment, evidence, source }: Step,
): Promise<PaymentRecord> => {
  const code = evidence.kind === 'unknown' ? evidence.code : 'mismatch'
  alertAfterCommit(tx, deps, 'payment_unknown', { subject: 'payment', id: payment.id, code })
  return writeChange(tx, deps, payment, { status: 'unknown' }, { actor: actorOf(source) })
}

const fail = (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  { payment, evidence, source }: Step,
): Promise<PaymentRecord> => {
  const failure = evidence.kind === 'failed' ? evidence : undefined
  return releasePayment(tx, deps, payment, { to: 'failed', actor: actorOf(source), failure })
}

/** The payment had already succeeded; its receipt came later. */
const complete = (tx: Tx, deps: Pick<Deps, 'appendEvents'>, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const options = { actor: actorOf(source), action: 'payment.receipt', after: { provider_receipt: receipt } } as const
  return writeChange(tx, deps, payment, { providerReceipt: receipt }, options)
}

/** Money left for a payment whose hold was released. Nothing is booked here: an administrator is alerted and books it. */
const noteLateSuccess = (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'appendEvents'>,
  { payment, evidence, source }: Step,
): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const moved = (evidence.kind === 'succeeded' ? evidence.amountMinor : null) ?? payment.amountMinor
  alertAfterCommit(tx, deps, 'late_success', { subject: 'payment', id: payment.id })
  return writeChange(
    tx,
    deps,
    payment,
    { lateSuccessReceipt: receipt, lateSuccessAmountMinor: moved, lateSuccessAt: tx.at },
    {
      actor: actorOf(source),
      type: 'payment.late_success',
      action: 'payment.late_success',
      after: { provider_receipt: receipt, amount_minor: formatMinor(moved) },
    },
  )
}

const moves: Readonly<Record<PaymentMove, (tx: Tx, deps: SettleDeps, step: Step) => Promise<PaymentRecord>>> = {
  succeed,
  fail,
  mark_unknown: markUnknown,
  return: returnPayment,
  succeed_and_return: async (tx, deps, step) => returnPayment(tx, deps, { ...step, payment: await succeed(tx, deps, step) }),
  complete,
  note_late_success: noteLateSuccess,
}

export type Settled = { verdict: Verdict; payment: PaymentRecord }

/**
 * Ends a payment on evidence, from any source, any number of times and in any order. The caller has locked its owning account and the
 * payment. A mismatch moves no money, but a payment under way becomes unknown. After an operator's decision the rail is no longer queried.
 */
export const settlePayment = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config'>,
  payment: PaymentRecord,
  evidence: Evidence,
  source: EvidenceSource,
): Promise<Settled> => {
  const step: Step = { payment, evidence, source }
  const receipt = isUnderWay(payment.status) || evidence.kind === 'succeeded' ? receiptOf(evidence) : null
  const taken = receipt !== null && (await isReceiptTaken(tx, payment.rail, receipt, payment.id))
  const judged = judgePayment(payment, evidence, taken)
  if (judged.move !== null) {
    const after = await moves[judged.move](tx, deps, step)
    if (source.kind === 'operator') await resolveAttempts(tx, payment.id)
    return { verdict: 'applied', payment: after }
  }
  const doubtful = judged.verdict === 'mismatch' && payment.status === 'processing'
  return { verdict: judged.verdict, payment: doubtful ? await markUnknown(tx, deps, step) : payment }
}
