import type { Minor } from '../lib/money.ts'
import type { RuleName } from './rules.ts'
import type { Outcome, TraceEntry, TraceSource } from './types.ts'

type RuleOrigin = { source: TraceSource; rule: RuleName }

/** Holds or does not hold, regardless of the amount. */
export type Gate = RuleOrigin & { kind: 'gate'; passes: boolean; resetsAt?: Date }
/** Usage and amount together may reach the limit, but not exceed it. */
export type Cap = RuleOrigin & { kind: 'cap'; limitMinor: Minor; usedMinor?: Minor; resetsAt?: Date }
/** Requires approvals from the threshold on; without a threshold always. */
export type ApprovalRule = RuleOrigin & { kind: 'ask'; thresholdMinor: Minor | null; approvals: number; resetsAt?: Date }

/**
 * A rule with its numbers, not yet compared with an amount. The verdict, the trace and the remedy all come from the same finding, so the
 * explanation of a decision is what decided it.
 */
export type Finding = Gate | Cap | ApprovalRule

const reached = (cap: Cap, amount: Minor): Minor => (cap.usedMinor ?? 0n) + amount

export const approvalsRequired = (finding: Finding, amount: Minor): number =>
  finding.kind === 'ask' && (finding.thresholdMinor === null || amount >= finding.thresholdMinor) ? finding.approvals : 0

export const verdict = (finding: Finding, amount: Minor, approvalsGiven: number): Outcome => {
  if (finding.kind === 'gate') return finding.passes ? 'allow' : 'deny'
  if (finding.kind === 'cap') return reached(finding, amount) <= finding.limitMinor ? 'allow' : 'deny'
  return approvalsRequired(finding, amount) > approvalsGiven ? 'require_approval' : 'allow'
}

/** The largest amount that the rule allows without another approval: null when every amount, 0 or less when none. */
export const ceiling = (finding: Finding, approvalsGiven: number): Minor | null => {
  if (finding.kind === 'gate') return finding.passes ? null : 0n
  if (finding.kind === 'cap') return finding.limitMinor - (finding.usedMinor ?? 0n)
  if (finding.approvals <= approvalsGiven) return null
  return finding.thresholdMinor === null ? 0n : finding.thresholdMinor - 1n
}

/** The smallest limit or threshold that allows the amount; undefined for a rule without an amount. */
export const leastThatSuffices = (finding: Finding, amount: Minor): Minor | undefined => {
  if (finding.kind === 'cap') return reached(finding, amount)
  if (finding.kind === 'ask' && finding.thresholdMinor !== null) return amount + 1n
  return undefined
}

export const traceEntry = (finding: Finding, amount: Minor, approvalsGiven: number): TraceEntry => {
  const { source, rule } = finding
  const entry: TraceEntry = { source, rule, outcome: verdict(finding, amount, approvalsGiven) }
  if (finding.kind === 'gate') return entry
  if (finding.kind === 'cap') {
    const { limitMinor, usedMinor, resetsAt } = finding
    return {
      ...entry,
      limitMinor,
      ...(usedMinor !== undefined && { usedMinor }),
      requestedMinor: amount,
      ...(resetsAt && { resetsAt }),
    }
  }
  const threshold = finding.thresholdMinor !== null && { limitMinor: finding.thresholdMinor }
  return { ...entry, ...threshold, requestedMinor: amount, requiredApprovals: approvalsRequired(finding, amount) }
}
