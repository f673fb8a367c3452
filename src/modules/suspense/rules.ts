import type { suspenseReasons } from '../../db/tables/rails.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { Evidence } from '../../rails/rail.ts'

export type Finding = {
  rail: string
  direction: 'in' | 'out'
  reason: (typeof suspenseReasons)[number]
  attemptId?: Uuid
  deliveryId?: Uuid
  /** The provider may tell it again, in another delivery. */
  isRepeated?: boolean
  subject?: { kind: string; id: Uuid }
  receipt?: string | null
  amountMinor?: Minor | null
  /**
   * Whether the books lack this money: then it is posted to the suspense account, so that the clearing accounts agree with the provider's
   * statement. False while a hold still covers it.
   */
  book: boolean
  /** An alert about it was already raised. */
  alerted?: boolean
  at: Date
}

type AttemptFacts = { kind: 'payment' | 'topup'; amountMinor: Minor }

/**
 * The suspense item for evidence that could not be applied: a success reports money, and so does a return of another amount. A payment's hold still covers its money, so
 * nothing is booked for it; money of a top-up that is not credited is missing in our books and is booked. A receipt that belongs to
 * something else is already booked there. The hold of a superseded attempt belongs to the attempt that followed it.
 */
export const suspenseOf = (
  attempt: AttemptFacts,
  verdict: string,
  evidence: Evidence,
): Pick<Finding, 'direction' | 'reason' | 'receipt' | 'amountMinor' | 'book'> | null => {
  if (evidence.kind === 'succeeded' && verdict === 'suspense') {
    const direction = attempt.kind === 'topup' ? 'in' : 'out'
    const amountMinor = evidence.amountMinor ?? attempt.amountMinor
    return { direction, reason: 'superseded_attempt', receipt: evidence.receipt, amountMinor, book: true }
  }
  if (evidence.kind === 'returned' && verdict === 'mismatch' && evidence.amountMinor !== null) {
    const { receipt, amountMinor } = evidence
    return { direction: 'in', reason: 'amount_mismatch', receipt, amountMinor, book: amountMinor !== attempt.amountMinor }
  }
  // How much moved, or came back, is for a person to find out: nothing is booked.
  if ((evidence.kind === 'returned' || (evidence.kind === 'unknown' && evidence.moved)) && verdict === 'contradiction') {
    const direction = evidence.kind === 'returned' || attempt.kind === 'topup' ? 'in' : 'out'
    const known = evidence.kind === 'returned' ? evidence : { receipt: null, amountMinor: null }
    return { direction, reason: 'contradiction', receipt: known.receipt, amountMinor: known.amountMinor, book: false }
  }
  // Of an attempt in dispute, the right amount waits for the answer to a query; another one is one more finding.
  if (evidence.kind !== 'succeeded') return null
  const { receipt, amountMinor } = evidence
  const otherAmount = amountMinor !== null && amountMinor !== attempt.amountMinor
  if (!['mismatch', 'contradiction'].includes(verdict) && !(verdict === 'disputed' && otherAmount)) return null
  const reason = verdict === 'contradiction' ? 'contradiction' : otherAmount ? 'amount_mismatch' : 'receipt_taken'
  const isMissing = attempt.kind === 'topup' && receipt !== null && reason !== 'receipt_taken'
  return { direction: attempt.kind === 'topup' ? 'in' : 'out', reason, receipt, amountMinor, book: isMissing }
}
