import type { Clearing } from '../../../ledger/clearing.ts'
import { displayAmount, type Minor, sumOf } from '../../../lib/money.ts'
import type { Match } from './matching-rules.ts'
import type { MovementRecord } from './movements-service.ts'

type Range = { low: Minor; high: Minor }

/** The organisation's money after the last comparison. `chargesMinor`: null if an earlier release included it in the money. */
type Baseline = Range & { chargesMinor: Minor | null }

/** `chargesMinor`: the balance of the charges accounts. */
export type BalanceReading = {
  statedMinor: Minor
  chargesMinor: Minor
  requested: Clearing
  answered: Clearing
  /** Money in transit when the answer arrives. It may have moved at the provider but is not booked. */
  mayComeInMinor: Minor
  mayGoOutMinor: Minor
}

/** The organisation's own money: the stated balance minus the money that our books account for. */
const organisationMoney = ({ statedMinor, requested, answered, mayComeInMinor, mayGoOutMinor }: BalanceReading): Range => ({
  low: statedMinor - (answered.cameInMinor + mayComeInMinor - requested.wentOutMinor),
  high: statedMinor - (requested.cameInMinor - answered.wentOutMinor - mayGoOutMinor),
})

/** The range expected after the movements that a person has recorded. */
export const expectedMoney = (baseline: Baseline, { chargesMinor }: BalanceReading, movedMinor: Minor): Range => ({
  low: baseline.low + movedMinor,
  // If the baseline includes the charges, they were between zero and their current balance.
  high: baseline.high + movedMinor - (baseline.chargesMinor === null && chargesMinor < 0n ? chargesMinor : 0n),
})

/** Charges since the baseline: the fall of the charges accounts, before settlements, and charges taken from the money itself. */
export const chargesSince = (
  baseline: Baseline | null,
  { chargesMinor }: BalanceReading,
  movements: readonly MovementRecord[],
): Minor | undefined => {
  if (!baseline || baseline.chargesMinor === null) return undefined
  return chargesMinor - baseline.chargesMinor + sumOf(movements.filter(({ kind }) => kind !== 'bank_transfer'))
}

/** The first comparison establishes the organisation's money. A difference is reported once: the next one starts from it. */
export const compareBalance = (
  expected: Range | null,
  reading: BalanceReading,
  accounts: number,
  currency: string,
): { money: Range; result: Match } => {
  const { statedMinor } = reading
  const measured = organisationMoney(reading)
  const low = expected && expected.low > measured.low ? expected.low : measured.low
  const high = expected && expected.high < measured.high ? expected.high : measured.high
  if (low <= high)
    return { money: { low, high }, result: { matched: accounts, differences: [], bookedMinor: statedMinor, statedMinor } }
  const bookedMinor =
    expected && measured.low > expected.high ? statedMinor - (measured.low - expected.high) : statedMinor + (low - high)
  const difference = {
    kind: 'balance_differs',
    receipt: null,
    subject: null,
    attemptId: null,
    bookedMinor,
    statedMinor,
    reason: `The provider's accounts hold ${displayAmount(statedMinor, currency)}, and ${displayAmount(bookedMinor, currency)} was expected from the last comparison and our books.`,
    action:
      "Look in the organisation's statement for transfers to or from the bank, a settlement of charges, and money that no payment here requested. Name a transfer or a settlement: comparisons know it from then on. For anything else import the statement: what the books lack becomes a difference of its own.",
  } as const
  return { money: measured, result: { matched: 0, differences: [difference], bookedMinor, statedMinor } }
}

/** The baseline that a comparison recorded. */
export const baselineIn = (totals: Readonly<Record<string, string>>): Baseline | null => {
  const read = (low: string | undefined, high: string | undefined, chargesMinor: Minor | null): Baseline | null =>
    low === undefined || high === undefined ? null : { low: BigInt(low), high: BigInt(high), chargesMinor }
  const { money_low_minor: low, money_high_minor: high, charges_account_minor: charges = '0' } = totals
  return read(low, high, BigInt(charges)) ?? read(totals.own_low_minor, totals.own_high_minor, null)
}
