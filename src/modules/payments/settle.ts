import type { Tx } from '../../db/client.ts'
import { isPaid, isUnderWay } from '../../db/transitions.ts'
import { transfer } from '../../ledger/ledger.ts'
import type { Uuid } from '../../lib/ids.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { isSameReceipt } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { actorOf, type EvidenceSource, type Verdict } from '../attempts/attempt.ts'
import { type ReceiptClaim, resolveAttempts, takenReceipts } from '../attempts/queries.ts'
import { noteResultNames } from '../beneficiaries/names-service.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { endPayments, type PaymentEnd, writeChange } from './change.ts'
import type { PaymentRecord } from './queries.ts'

/**
 * What evidence does to a payment. `complete`: only its receipt was missing. `mark_unknown`: its outcome is unknown now, and the hold
 * stays. `succeed_and_return`: the provider reports only the return; the money left and came back. `note_late_success`: the payment had
 * failed and its hold was released, but the money left all the same.
 */
export type PaymentMove = 'succeed' | 'fail' | 'mark_unknown' | 'return' | 'succeed_and_return' | 'complete' | 'note_late_success'
export type Judged = { move: PaymentMove } | { move: null; verdict: Exclude<Verdict, 'applied'> }

const none = (verdict: Exclude<Verdict, 'applied'>): Judged => ({ move: null, verdict })

type Success = { receipt: string | null; amountMinor: Minor | null }

/** For any amount: the amount that left must be booked. A second proof with a different receipt is a second payout. */
const onLateSuccess = (payment: PaymentRecord, { receipt }: Success, receiptIsTaken: boolean): Judged => {
  if (receiptIsTaken) return none('contradiction')
  if (payment.lateSuccessAt === null) return { move: 'note_late_success' }
  return none(receipt === null || isSameReceipt(receipt, payment.lateSuccessReceipt) ? 'repeated' : 'contradiction')
}

const onSuccess = (payment: PaymentRecord, evidence: Success, receiptIsTaken: boolean): Judged => {
  const { receipt, amountMinor } = evidence
  const strange = receiptIsTaken || (amountMinor !== null && amountMinor !== payment.amountMinor)
  if (isUnderWay(payment.status)) return strange ? none('mismatch') : { move: 'succeed' }
  if (payment.status === 'failed') return onLateSuccess(payment, evidence, receiptIsTaken)
  if (strange || !isPaid(payment.status)) return none('contradiction')
  if (receipt === null || isSameReceipt(receipt, payment.providerReceipt)) return none('repeated')
  return payment.providerReceipt === null ? { move: 'complete' } : none('contradiction')
}

const onFailure = (payment: PaymentRecord): Judged => {
  if (isUnderWay(payment.status)) return { move: 'fail' }
  return none(payment.status === 'failed' && payment.lateSuccessAt === null ? 'repeated' : 'contradiction')
}

/** Only the whole amount is credited: what came back of another amount is in suspense, for a person. */
const onReturn = (payment: PaymentRecord, amountMinor: Minor | null, receiptIsTaken: boolean): Judged => {
  const isOther = amountMinor !== null && amountMinor !== payment.amountMinor
  if (isOther && (isUnderWay(payment.status) || payment.status === 'succeeded')) return none('mismatch')
  if (isUnderWay(payment.status)) return receiptIsTaken ? none('mismatch') : { move: 'succeed_and_return' }
  if (payment.status === 'succeeded') return { move: 'return' }
  return none(payment.status === 'returned' ? 'repeated' : 'contradiction')
}

/** The change that evidence leads to, among the transitions that the table allows. The order of evidence does not matter. */
export const judgePayment = (payment: PaymentRecord, evidence: Evidence, receiptIsTaken: boolean): Judged => {
  switch (evidence.kind) {
    case 'succeeded':
      return onSuccess(payment, evidence, receiptIsTaken)
    case 'failed':
      return onFailure(payment)
    case 'returned':
      return onReturn(payment, evidence.amountMinor, receiptIsTaken)
    case 'unknown':
      if (payment.status === 'processing') return { move: 'mark_unknown' }
      return none(evidence.moved && !isUnderWay(payment.status) && !isPaid(payment.status) ? 'contradiction' : 'inconclusive')
    default:
      return none('inconclusive')
  }
}

type Step = { payment: PaymentRecord; evidence: Evidence; source: EvidenceSource }

const receiptOf = (evidence: Evidence): string | null => ('receipt' in evidence ? evidence.receipt : null)

/** The rail returned the money. The payment still counts against its limits: it was sent. */
const returnPayment = async (tx: Tx, { payment, source }: Step): Promise<PaymentRecord> => {
  const { id, accountId, amountMinor } = payment
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'rail_clearing',
    reference: { type: 'payment', id },
    memo: 'returned',
  })
  const updated = await balanceUpdated(tx, accountId, balance)
  return writeChange(tx, payment, { status: 'returned', completedAt: tx.at }, { actor: actorOf(source), balance: updated })
}

const markUnknown = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const code = evidence.kind === 'unknown' ? evidence.code : 'mismatch'
  alertAfterCommit(tx, 'payment_unknown', { subject: 'payment', id: payment.id, code })
  return writeChange(tx, payment, { status: 'unknown' }, { actor: actorOf(source) })
}

/** The payment had already succeeded; its receipt came later. */
const complete = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const options = { actor: actorOf(source), action: 'payment.receipt', after: { provider_receipt: receipt } } as const
  return writeChange(tx, payment, { providerReceipt: receipt }, options)
}

/** Money left for a payment whose hold was released. Nothing is booked here: an administrator is alerted and books it. */
const noteLateSuccess = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const moved = (evidence.kind === 'succeeded' ? evidence.amountMinor : null) ?? payment.amountMinor
  alertAfterCommit(tx, 'late_success', { subject: 'payment', id: payment.id })
  return writeChange(
    tx,
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

/** Moves that end a payment: nearly all of them, written set-wise. */
const endOf = (move: PaymentMove, { payment, evidence, source }: Step): PaymentEnd | undefined => {
  const actor = actorOf(source)
  if (move === 'succeed' || move === 'succeed_and_return')
    return { payment, to: 'succeeded', actor, receipt: receiptOf(evidence) }
  if (move === 'fail') return { payment, to: 'failed', actor, failure: evidence.kind === 'failed' ? evidence : undefined }
  return undefined
}

type RareMove = Exclude<PaymentMove, 'succeed' | 'fail'>

/** The other moves, one payment at a time. One that has succeeded and come back is ended first. */
const rareMoves: Readonly<Record<RareMove, (tx: Tx, step: Step) => Promise<PaymentRecord>>> = {
  mark_unknown: markUnknown,
  return: returnPayment,
  succeed_and_return: returnPayment,
  complete,
  note_late_success: noteLateSuccess,
}

export type Settled = { verdict: Verdict; payment: PaymentRecord }

const claimsOf = (steps: readonly Step[]): ReceiptClaim[] =>
  steps.flatMap(({ payment, evidence }) => {
    const receipt = isUnderWay(payment.status) || evidence.kind === 'succeeded' ? receiptOf(evidence) : null
    return receipt === null ? [] : [{ rail: payment.rail, receipt, subjectId: payment.id }]
  })

const judgeAll = async (tx: Tx, steps: readonly Step[]) => {
  const taken = await takenReceipts(tx, claimsOf(steps))
  return steps.map((step) => ({ step, judged: judgePayment(step.payment, step.evidence, taken.has(step.payment.id)) }))
}

type JudgedStep = Awaited<ReturnType<typeof judgeAll>>[number]

/** Ends the payments that end, all at once. Returns their records. */
const endAll = async (tx: Tx, judged: readonly JudgedStep[]): Promise<Map<Uuid, PaymentRecord>> => {
  const ends = judged.flatMap(({ step, judged: { move } }) => (move === null ? [] : (endOf(move, step) ?? [])))
  return new Map((await endPayments(tx, ends)).map((payment) => [payment.id, payment]))
}

const conclude = async (tx: Tx, { step, judged }: JudgedStep, ended: PaymentRecord): Promise<Settled> => {
  const now = { ...step, payment: ended }
  if (judged.move === null) {
    const doubtful = judged.verdict === 'mismatch' && ended.status === 'processing'
    return { verdict: judged.verdict, payment: doubtful ? await markUnknown(tx, now) : ended }
  }
  if (judged.move === 'succeed' || judged.move === 'fail') return { verdict: 'applied', payment: ended }
  return { verdict: 'applied', payment: await rareMoves[judged.move](tx, now) }
}

/**
 * Ends payments on evidence, from any source, any number of times and in any order; one call names each payment and each receipt once. The
 * caller has locked their owning accounts and the payments. A mismatch moves no money, but a payment under way becomes unknown. After an
 * operator's decision the rail is no longer queried. Results are in the same order.
 */
export const settlePayments = async (tx: Tx, steps: readonly Step[]): Promise<Settled[]> => {
  const judged = await judgeAll(tx, steps)
  const ended = await endAll(tx, judged)
  const settled: Settled[] = []
  for (const each of judged) {
    const { payment } = each.step
    settled.push(await conclude(tx, each, ended.get(payment.id) ?? payment))
  }
  noteResultNames(
    tx,
    judged.flatMap(({ step: { payment, evidence }, judged: { move } }) =>
      move !== null && evidence.kind === 'succeeded' ? [{ payment, name: evidence.payeeName }] : [],
    ),
  )
  const decided = judged.filter(({ step, judged: { move } }) => move !== null && step.source.kind === 'operator')
  await resolveAttempts(
    tx,
    decided.map(({ step }) => step.payment.id),
  )
  return settled
}
