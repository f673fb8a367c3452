import type { Minor } from '../../../lib/money.ts'
import type { Evidence } from '../../../rails/rail.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Verdict } from './attempts/subject.ts'

/**
 * What evidence does to a payment. `complete`: only its receipt was still missing. `mark_unknown`: from now on nobody knows, the hold
 * stays. `succeed_and_return`: the provider tells of the end alone, the money went and came back.
 */
export type PaymentMove = 'succeed' | 'fail' | 'mark_unknown' | 'return' | 'succeed_and_return' | 'complete'
export type Judged = { move: PaymentMove } | { move: null; verdict: Exclude<Verdict, 'applied'> }

const none = (verdict: Exclude<Verdict, 'applied'>): Judged => ({ move: null, verdict })

/** Whether the money is under way or in doubt: the states that evidence may end. */
export const isUnderWay = ({ status }: Pick<PaymentRecord, 'status'>): boolean => status === 'processing' || status === 'unknown'
const hasMoved = ({ status }: PaymentRecord): boolean => status === 'succeeded' || status === 'returned'

type Success = { receipt: string | null; amountMinor: Minor | null }

const onSuccess = (payment: PaymentRecord, { receipt, amountMinor }: Success, receiptIsTaken: boolean): Judged => {
  const strange = receiptIsTaken || (amountMinor !== null && amountMinor !== payment.amountMinor)
  if (isUnderWay(payment)) return strange ? none('mismatch') : { move: 'succeed' }
  // After a failure: the money went although it was given back. Not ours to book, and never to be passed over.
  if (strange || !hasMoved(payment)) return none('contradiction')
  if (receipt === null || receipt === payment.providerReceipt) return none('repeated')
  return payment.providerReceipt === null ? { move: 'complete' } : none('contradiction')
}

const onFailure = (payment: PaymentRecord): Judged => {
  if (isUnderWay(payment)) return { move: 'fail' }
  return none(payment.status === 'failed' ? 'repeated' : 'contradiction')
}

const onReturn = (payment: PaymentRecord, receiptIsTaken: boolean): Judged => {
  if (isUnderWay(payment)) return receiptIsTaken ? none('mismatch') : { move: 'succeed_and_return' }
  if (payment.status === 'succeeded') return { move: 'return' }
  return none(payment.status === 'returned' ? 'repeated' : 'contradiction')
}

/** Allowed: processing or unknown → succeeded or failed; processing → unknown; succeeded → returned. Nothing else, in any order. */
export const judgePayment = (payment: PaymentRecord, evidence: Evidence, receiptIsTaken: boolean): Judged => {
  switch (evidence.kind) {
    case 'succeeded':
      return onSuccess(payment, evidence, receiptIsTaken)
    case 'failed':
      return onFailure(payment)
    case 'returned':
      return onReturn(payment, receiptIsTaken)
    case 'unknown':
      return payment.status === 'processing' ? { move: 'mark_unknown' } : none('inconclusive')
    default:
      return none('inconclusive')
  }
}
