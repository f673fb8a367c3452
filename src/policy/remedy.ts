import type { Minor } from '../lib/money.ts'
import { approvalsRequired, ceiling, type Finding, leastThatSuffices, mandateCounts, verdict } from './findings.ts'
import type { Evaluation, Remedy } from './types.ts'

/** `approvalsGiven`: by the mandate, if it fits or is changed to fit. `canBeApproved`: whether people can give the others. */
type Approvable = { approvalsGiven: number; canBeApproved: (amount: Minor) => boolean }

/** The largest allowed amount that the rail sends. Null if it would evade an approval that the requested one needs. */
const largestAllowed = (
  { payment: { amountMinor }, unitMinor, minMinor = 1n, maxMinor }: Evaluation,
  findings: readonly Finding[],
  givenFor: (finding: Finding) => number,
  canBeApproved: Approvable['canBeApproved'],
): Minor | null => {
  const [lowest] = findings.flatMap((finding) => ceiling(finding, givenFor(finding)) ?? []).sort((a, b) => (a < b ? -1 : 1))
  if (lowest === undefined) return null
  const most = maxMinor !== undefined && maxMinor < lowest ? maxMinor : lowest
  const whole = most - (most % unitMinor)
  const evades = findings.some((finding) => approvalsRequired(finding, amountMinor) > approvalsRequired(finding, whole))
  return whole >= minMinor && !evades && canBeApproved(whole) ? whole : null
}

const passesAt = (finding: Finding, amount: Minor): Date | undefined =>
  finding.kind !== 'cap' || finding.limitMinor >= amount ? finding.resetsAt : undefined

/** Null if waiting does not help. The latest reset suffices, because the last day of a month ends with the month. */
const whenItPasses = ({ payment, mandate }: Evaluation, blocking: readonly Finding[]): Date | null => {
  const resets = blocking.flatMap((finding) => passesAt(finding, payment.amountMinor) ?? [])
  if (resets.length === 0 || resets.length < blocking.length) return null
  const at = new Date(Math.max(...resets.map((reset) => reset.getTime())))
  return mandate && at >= mandate.expiresAt ? null : at
}

const settledByCount: ReadonlySet<string> = new Set(['possible_duplicate', 'unconfirmed_payee', 'payee_verification'])

/** Such rules require as many approvals as their policy or, by default, one, which a mandate gives. */
const isSettledByCount = (finding: Finding, blocking: readonly Finding[], approvalsGiven: number): boolean =>
  settledByCount.has(finding.rule) &&
  finding.kind === 'ask' &&
  approvalsGiven > 0 &&
  blocking.some(({ rule, source }) => rule === 'required_approval_count' && source.id === finding.source.id)

/**
 * The smallest change after which the payment is not denied, or needs no approval if it is not denied. Each blocking rule must
 * change, because it blocks alone. An approval rule blocks a denied payment only if too few people can approve the payment. More
 * approvers are never the remedy: they turn a denial into a wait, and rules that require them are listed anyway.
 */
export const remedyFor = (
  input: Evaluation,
  findings: readonly Finding[],
  { approvalsGiven, canBeApproved }: Approvable,
): Remedy => {
  const amount = input.payment.amountMinor
  const givenFor = (finding: Finding) => (mandateCounts(input, finding) ? approvalsGiven : 0)
  const stops = findings.filter((finding) => verdict(finding, amount, givenFor(finding)) !== 'allow')
  const denials = stops.filter((finding) => verdict(finding, amount, givenFor(finding)) === 'deny')
  const blocking = denials.length > 0 && canBeApproved(amount) ? denials : stops
  return {
    maxAmountMinor: largestAllowed(input, findings, givenFor, canBeApproved),
    changes: blocking
      .filter((finding) => !isSettledByCount(finding, blocking, givenFor(finding)))
      .map((finding) => {
        const toMinor = leastThatSuffices(finding, amount)
        return { source: finding.source, rule: finding.rule, ...(toMinor !== undefined && { toMinor }) }
      }),
    passesAt: whenItPasses(input, blocking),
  }
}
