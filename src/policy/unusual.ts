import type { Minor } from '../lib/money.ts'
import type { Evaluation, Warning } from './types.ts'

/** A payee that was never paid has the name of one that was. */
export const similarNameWarnings = ({ payment: { payee } }: Evaluation): Warning[] =>
  payee.similarTo === null ? [] : [{ code: 'similar_name', ...payee.similarTo }]

/** Of the last payments to a payee, the usual one is the median: one unusual payment does not move it. */
export const mostRemembered = 9
const leastRemembered = 3

/** What a payee usually gets, from the amounts that last reached it; null where they are too few to say. */
export const typicalAmount = (lastPaid: readonly Minor[]): Minor | null => {
  if (lastPaid.length < leastRemembered) return null
  const sorted = lastPaid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

/** How many times what the payee usually gets is unusual. */
const unusualFactor = 5n

export const unusualAmount = (
  amountMinor: Minor,
  typicalAmountMinor: Minor | null,
): Extract<Warning, { code: 'unusual_amount' }>[] =>
  typicalAmountMinor !== null && amountMinor > typicalAmountMinor * unusualFactor
    ? [{ code: 'unusual_amount', typicalAmountMinor }]
    : []

export const unusualAmountWarnings = ({ payment: { amountMinor, payee } }: Evaluation): Warning[] =>
  unusualAmount(amountMinor, payee.typicalAmountMinor)
