import { starterThreshold } from './rule-words.ts'
import { type Controls, controlsToDraft, hasAmount, type Spending } from './spending-draft.ts'

/** Small default limits, so that a mistake costs little. */
const cautious = {
  per_payment_limit_minor: '100000',
  daily_limit_minor: '500000',
  monthly_limit_minor: '5000000',
  approval_threshold_minor: '100000',
} as const satisfies Controls

export const starterSpending = (): Spending => {
  const limits = { per_payment_limit_minor: '2000000', daily_limit_minor: '5000000', monthly_limit_minor: '50000000' }
  return {
    choice: 'limited',
    draft: controlsToDraft({ ...limits, approval_threshold_minor: starterThreshold, on_duplicate: 'confirm' }),
  }
}

/** The limits that the client requested, or cautious limits without a request. */
export const initialSpending = (asked?: Controls): Spending => {
  const { new_payees, on_duplicate, ...requested } = asked ?? {}
  return {
    choice: 'limited',
    draft: controlsToDraft({
      ...(hasAmount(requested) ? requested : { ...cautious, ...requested }),
      // Only the person chooses payments to new beneficiaries without approval; the form never prefills that.
      ...(new_payees === 'deny' && { new_payees }),
      // An agent must confirm a repeated payment, unless it asked for a stricter answer.
      ...(asked && { on_duplicate: on_duplicate === undefined || on_duplicate === 'warn' ? 'confirm' : on_duplicate }),
    }),
  }
}

const roundUp = (minor: bigint): bigint => {
  // Keeps two significant digits, and rounds at least to whole units of the currency.
  const step = 10n ** BigInt(Math.max(2, minor.toString().length - 2))
  return ((minor + step - 1n) / step) * step
}

const median = (sorted: readonly bigint[]): bigint => sorted[Math.floor(sorted.length / 2)] ?? 0n

/**
 * Limits from the days on which agents spent; without such days, the cautious limits. Daily: twice the median day, for busier
 * days, and at most four times the cautious limit. Per payment and for approval: three times the average payment, for larger
 * payments, and at most the daily limit. Monthly: ten times the daily limit, as in the other defaults.
 */
export const suggestedSpending = (days: readonly { count: number; amount_minor: string }[]): Spending => {
  const byAmount = days.map((day) => BigInt(day.amount_minor)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const count = days.reduce((sum, day) => sum + day.count, 0)
  if (count === 0) return { choice: 'limited', draft: controlsToDraft({ ...cautious, on_duplicate: 'confirm' }) }
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
  const daily = least(roundUp(median(byAmount) * 2n), BigInt(cautious.daily_limit_minor) * 4n)
  const usual = byAmount.reduce((sum, amount) => sum + amount, 0n) / BigInt(count)
  const perPayment = least(roundUp(usual * 3n), daily).toString()
  return {
    choice: 'limited',
    draft: controlsToDraft({
      per_payment_limit_minor: perPayment,
      daily_limit_minor: daily.toString(),
      monthly_limit_minor: (daily * 10n).toString(),
      approval_threshold_minor: perPayment,
      on_duplicate: 'confirm',
    }),
  }
}
