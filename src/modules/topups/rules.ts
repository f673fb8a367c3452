import type { FieldError } from '../../lib/errors.ts'
import { displayAmount, type Minor } from '../../lib/money.ts'
import { isSameReceipt } from '../../lib/text.ts'
import type { Evidence, RailLimits } from '../../rails/rail.ts'
import type { Verdict } from '../attempts/attempt.ts'
import type { TopupRecord } from './queries.ts'

export const amountErrors = (amountMinor: Minor, limits: RailLimits, currency: string): FieldError[] => {
  const path = 'amount_minor'
  if (limits.wholeUnits && amountMinor % 100n !== 0n)
    return [{ path, message: 'must be whole shillings: a multiple of 100 minor units' }]
  if (amountMinor >= limits.minMinor && amountMinor <= limits.maxMinor) return []
  return [
    { path, message: `must be from ${displayAmount(limits.minMinor, currency)} to ${displayAmount(limits.maxMinor, currency)}` },
  ]
}

/** What evidence does to a top-up: credit it, end it, complete it by its receipt, or nothing, with a verdict that gives the reason. */
export type TopupMove = { move: 'credit' | 'fail' | 'complete' } | { move: 'none'; verdict: Exclude<Verdict, 'applied'> }

const none = (verdict: Exclude<Verdict, 'applied'>): TopupMove => ({ move: 'none', verdict })

type Success = { receipt: string | null; amountMinor: Minor | null }

const onSuccess = (topup: TopupRecord, evidence: Success, receiptIsTaken: boolean): TopupMove => {
  const strange = receiptIsTaken || (evidence.amountMinor !== null && evidence.amountMinor !== topup.amountMinor)
  if (topup.status !== 'succeeded') {
    if (strange) return none('mismatch')
    // A delivery against the answer to a query: only a receipt outweighs a reported failure.
    if (topup.status === 'failed' && evidence.receipt === null) return none('contradiction')
    return { move: 'credit' }
  }
  if (strange) return none('contradiction')
  if (evidence.receipt === null || isSameReceipt(evidence.receipt, topup.providerReceipt)) return none('repeated')
  return topup.providerReceipt === null ? { move: 'complete' } : none('contradiction')
}

/** Allowed: pending → succeeded or failed; expired and failed → succeeded on proof. A success is never overwritten. */
export const moveTopup = (topup: TopupRecord, evidence: Evidence, receiptIsTaken: boolean): TopupMove => {
  switch (evidence.kind) {
    case 'succeeded':
      return onSuccess(topup, evidence, receiptIsTaken)
    case 'failed':
      if (topup.status === 'pending') return { move: 'fail' }
      return none(topup.status === 'succeeded' ? 'contradiction' : 'repeated')
    case 'returned':
      return none('contradiction')
    case 'unknown':
      return none(evidence.moved && topup.status !== 'succeeded' ? 'contradiction' : 'inconclusive')
    default:
      return none('inconclusive')
  }
}
