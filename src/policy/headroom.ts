import type { Minor } from '../lib/money.ts'
import type { Limits, Usage } from './types.ts'

export type Headroom = { perPaymentMinor: Minor | null; todayMinor: Minor | null; monthMinor: Minor | null }

/** A limit of a payer, and how much of it is used. */
export type LimitsInUse = Limits & { usage: Usage }
/** What is compared with what is used. */
type Amounts = Pick<LimitsInUse, 'perPaymentLimitMinor' | 'dailyLimitMinor' | 'monthlyLimitMinor' | 'usage'>

/** Null without a limit; never below 0, although a limit that was lowered may be exceeded already. */
const least = (amounts: readonly (Minor | null)[]): Minor | null => {
  let smallest: Minor | null = null
  for (const amount of amounts) if (amount !== null && (smallest === null || amount < smallest)) smallest = amount
  return smallest !== null && smallest < 0n ? 0n : smallest
}

const leaves = (limit: Minor | null, used: Minor): Minor | null => (limit === null ? null : limit - used)

/** What all of them together leave, for each kind of limit. */
export const headroomOf = (limits: readonly Amounts[]): Headroom => ({
  perPaymentMinor: least(limits.map((limit) => limit.perPaymentLimitMinor)),
  todayMinor: least(limits.map((limit) => leaves(limit.dailyLimitMinor, limit.usage.dayMinor))),
  monthMinor: least(limits.map((limit) => leaves(limit.monthlyLimitMinor, limit.usage.monthMinor))),
})

/** The amount from which an approval is needed; null where none is. */
export const approvalFrom = (limits: readonly Pick<Limits, 'approvalThresholdMinor'>[]): Minor | null =>
  least(limits.map((limit) => limit.approvalThresholdMinor))
