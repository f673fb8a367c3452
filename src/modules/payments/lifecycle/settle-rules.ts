import { isPaid, isUnderWay } from '../../../db/transitions.ts'
import type { Minor } from '../../../lib/money.ts'
import { isSameReceipt } from '../../../lib/text.ts'
import type { Evidence } from '../../../rails/rail.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Verdict } from './attempts/subject.ts'

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
