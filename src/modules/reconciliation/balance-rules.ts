import type { Minor } from '../../lib/money.ts'
import { amountText, type Match } from './rules.ts'

/** The two amounts that one lies between. */
export type Range = { low: Minor; high: Minor }

/** What is booked as moved at the provider since the beginning. */
type Books = { cameInMinor: Minor; wentOutMinor: Minor }

/** What a provider's accounts hold, and our books around the moment in which it looked: when it was asked, and when it had answered. */
type Look = {
  statedMinor: Minor
  asked: Books
  answered: Books
  /** Under way when it had answered: it may have moved at the provider, and is not booked. */
  mayComeInMinor: Minor
  mayGoOutMinor: Minor
}

/** What would be left if all of ours were taken away: the organisation's own money, which nothing here moves. */
const ownMoney = ({ statedMinor, asked, answered, mayComeInMinor, mayGoOutMinor }: Look): Range => ({
  low: statedMinor - (answered.cameInMinor + mayComeInMinor - asked.wentOutMinor),
  high: statedMinor - (asked.cameInMinor - answered.wentOutMinor - mayGoOutMinor),
})

/**
 * Compares what the accounts hold with what was expected: the organisation's own money as it was last known, and our books since. The
 * first look makes that own money known. What does not fit is a difference once: the next look begins with what was found.
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
    reason: `The provider's accounts hold ${amountText(statedMinor, currency)}, and ${amountText(bookedMinor, currency)} was expected from the last look and our books.`,
    action:
      "Look in the organisation's statement for charges, transfers to or from the bank, and money that nobody here asked for. Import the statement: what the books lack becomes a difference of its own.",
  } as const
  return { own: seen, result: { matched: 0, differences: [difference], bookedMinor, statedMinor } }
}
