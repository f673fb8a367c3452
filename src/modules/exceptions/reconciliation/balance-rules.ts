import type { Minor } from '../../../lib/money.ts'
import { amountText, type Match } from './rules.ts'

/** The lowest and the highest amount that are possible. */
export type Range = { low: Minor; high: Minor }

/** What is booked as moved at the provider since the beginning. */
type Books = { cameInMinor: Minor; wentOutMinor: Minor }

/** What a provider's accounts hold, and our books on both sides of it: at the query, and at its result. */
type Look = {
  statedMinor: Minor
  requested: Books
  answered: Books
  /** Under way at the result: this money may have moved at the provider, and is not booked. */
  mayComeInMinor: Minor
  mayGoOutMinor: Minor
}

/** The organisation's own money: the balance less what our books say is ours to move. */
const ownMoney = ({ statedMinor, requested, answered, mayComeInMinor, mayGoOutMinor }: Look): Range => ({
  low: statedMinor - (answered.cameInMinor + mayComeInMinor - requested.wentOutMinor),
  high: statedMinor - (requested.cameInMinor - answered.wentOutMinor - mayGoOutMinor),
})

/**
 * Compares what the accounts hold with what was expected: the organisation's own money as it was last known, and our books since. The
 * first comparison makes that own money known. A difference is reported once: the next comparison continues from the new amount.
 */
export const compareBalance = (
  known: Range | null,
  look: Look,
  accounts: number,
  currency: string,
): { own: Range; result: Match } => {
  const { statedMinor } = look
  const seen = ownMoney(look)
  const low = known && known.low > seen.low ? known.low : seen.low
  const high = known && known.high < seen.high ? known.high : seen.high
  if (low <= high)
    return { own: { low, high }, result: { matched: accounts, differences: [], bookedMinor: statedMinor, statedMinor } }
  const bookedMinor = known && seen.low > known.high ? statedMinor - (seen.low - known.high) : statedMinor + (low - high)
  const difference = {
    kind: 'balance_differs',
    receipt: null,
    subject: null,
    attemptId: null,
    bookedMinor,
    statedMinor,
    reason: `The provider's accounts hold ${amountText(statedMinor, currency)}, and ${amountText(bookedMinor, currency)} was expected from the last comparison and our books.`,
    action:
      "Look in the organisation's statement for charges, transfers to or from the bank, and money that no payment here requested. Import the statement: what the books lack becomes a difference of its own.",
  } as const
  return { own: seen, result: { matched: 0, differences: [difference], bookedMinor, statedMinor } }
}
