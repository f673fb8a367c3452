import type { Minor } from '../lib/money.ts'
import type { Outcome } from '../lib/policy-answers.ts'
import type { RuleName } from './rules.ts'
import type { Limits, Periods, TraceEntry, TraceSource, Usage } from './types.ts'

type RuleOrigin = { source: TraceSource; rule: RuleName }

/** Holds or does not hold, regardless of the amount. */
type Gate = RuleOrigin & { kind: 'gate'; passes: boolean; resetsAt?: Date }
/** Usage and amount together may reach the limit, but not exceed it. */
type Cap = RuleOrigin & { kind: 'cap'; limitMinor: Minor; usedMinor?: Minor; resetsAt?: Date }
/**
 * Requires approvals from the threshold on; without a threshold always. `usedMinor`: what was paid to the payee today with fewer
 * approvals. It counts, so that nothing is gained by splitting a sum.
 */
type ApprovalRule = RuleOrigin & {
  kind: 'ask'
  thresholdMinor: Minor | null
  approvals: number
  usedMinor?: Minor
  resetsAt?: Date
}

/**
 * A rule with its numbers, not yet compared with an amount. The verdict, the trace and the remedy all come from the same finding, so the
 * explanation of a decision is what decided it.
 */
export type Finding = Gate | Cap | ApprovalRule

export const gate = (source: TraceSource, rule: RuleName, passes: boolean): Gate => ({ kind: 'gate', source, rule, passes })

/** For a payment of any amount. */
export const ask = (source: TraceSource, rule: RuleName, approvals: number): ApprovalRule => ({
  kind: 'ask',
  source,
  rule,
  thresholdMinor: null,
  approvals,
})

const reached = (rule: Cap | ApprovalRule, amount: Minor): Minor => (rule.usedMinor ?? 0n) + amount

export const approvalsRequired = (finding: Finding, amount: Minor): number =>
  finding.kind === 'ask' && (finding.thresholdMinor === null || reached(finding, amount) >= finding.thresholdMinor)
    ? finding.approvals
    : 0

export const verdict = (finding: Finding, amount: Minor, approvalsGiven: number): Outcome => {
  if (finding.kind === 'gate') return finding.passes ? 'allow' : 'deny'
  if (finding.kind === 'cap') return reached(finding, amount) <= finding.limitMinor ? 'allow' : 'deny'
  return approvalsRequired(finding, amount) > approvalsGiven ? 'require_approval' : 'allow'
}

/**
 * The largest amount that the rule does not stop: null when every amount, 0 or less when none. A threshold stops none: what is below it is
 * never named as a way around it.
 */
export const ceiling = (finding: Finding, approvalsGiven: number): Minor | null => {
  if (finding.kind === 'gate') return finding.passes ? null : 0n
  if (finding.kind === 'cap') return finding.limitMinor - (finding.usedMinor ?? 0n)
  if (finding.approvals <= approvalsGiven) return null
  return finding.thresholdMinor === null ? 0n : null
}

/** The smallest limit or threshold that allows the amount; undefined for a rule without an amount. */
export const leastThatSuffices = (finding: Finding, amount: Minor): Minor | undefined => {
  if (finding.kind === 'cap') return reached(finding, amount)
  if (finding.kind === 'ask' && finding.thresholdMinor !== null) return reached(finding, amount) + 1n
  return undefined
}

export const traceEntry = (finding: Finding, amount: Minor, approvalsGiven: number): TraceEntry => {
  const { source, rule } = finding
  const entry: TraceEntry = { source, rule, outcome: verdict(finding, amount, approvalsGiven) }
  if (finding.kind === 'gate') return finding.resetsAt && !finding.passes ? { ...entry, resetsAt: finding.resetsAt } : entry
  if (finding.kind === 'cap') {
    const { kind: _, ...numbers } = finding
    return { ...entry, ...numbers, requestedMinor: amount }
  }
  const threshold = finding.thresholdMinor !== null && { limitMinor: finding.thresholdMinor }
  const used = finding.usedMinor !== undefined && { usedMinor: finding.usedMinor }
  return { ...entry, ...threshold, ...used, requestedMinor: amount, requiredApprovals: approvalsRequired(finding, amount) }
}

/** None without a limit. */
export const cap = (
  source: TraceSource,
  rule: RuleName,
  limitMinor: Minor | null,
  use?: { usedMinor: Minor; resetsAt?: Date },
): Cap[] => (limitMinor === null ? [] : [{ kind: 'cap', source, rule, limitMinor, ...use }])

/** The limits of a policy or a grant, and how much of them is used. */
export const caps = (source: TraceSource, limits: Limits & { usage: Usage }, periods: Periods): Cap[] => {
  const { usage } = limits
  return [
    ...cap(source, 'per_payment_limit', limits.perPaymentLimitMinor),
    ...cap(source, 'daily_limit', limits.dailyLimitMinor, { usedMinor: usage.dayMinor, resetsAt: periods.dayResetsAt }),
    ...cap(source, 'monthly_limit', limits.monthlyLimitMinor, { usedMinor: usage.monthMinor, resetsAt: periods.monthResetsAt }),
  ]
}
