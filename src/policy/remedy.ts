import type { Minor } from '../lib/money.ts'
import { approvalsRequired, ceiling, type Finding, leastThatSuffices, verdict } from './finding.ts'
import { mandateCounts } from './new-payees.ts'
import type { Evaluation, Remedy } from './types.ts'

const largestAllowed = (findings: readonly Finding[], givenFor: (finding: Finding) => number): Minor | null => {
  const ceilings = findings.map((finding) => ceiling(finding, givenFor(finding))).filter((most) => most !== null)
  const lowest = ceilings.reduce<Minor | null>((least, most) => (least === null || most < least ? most : least), null)
  return lowest !== null && lowest > 0n ? lowest : null
}

/** In whole units of the rail. Where a threshold applies to the requested amount, it applies to the proposed one too. */
const proposed = (
  { payment: { amountMinor }, unitMinor }: Evaluation,
  findings: readonly Finding[],
  most: Minor | null,
): Minor | null => {
  if (most === null) return null
  const whole = most - (most % unitMinor)
  const evades = findings.some((finding) => approvalsRequired(finding, amountMinor) > approvalsRequired(finding, whole))
  return whole > 0n && !evades ? whole : null
}

const passesAt = (finding: Finding, amount: Minor): Date | undefined =>
  finding.kind !== 'cap' || finding.limitMinor >= amount ? finding.resetsAt : undefined

/** At a month's end its last day ends too, so the latest reset also resets all others. */
const whenItPasses = ({ payment, mandate }: Evaluation, blocking: readonly Finding[]): Date | null => {
  const resets = blocking.flatMap((finding) => passesAt(finding, payment.amountMinor) ?? [])
  if (resets.length === 0 || resets.length < blocking.length) return null
  const at = new Date(Math.max(...resets.map((reset) => reset.getTime())))
  return mandate && at >= mandate.expiresAt ? null : at
}

const settledByCount: ReadonlySet<string> = new Set(['possible_duplicate', 'unconfirmed_payee', 'payee_verification'])

/** A possible duplicate, a new payee or an unconfirmed name requires as many approvals as its policy does: without that count it requires one, which a mandate gives. */
const isSettledByCount = (finding: Finding, blocking: readonly Finding[], approvalsGiven: number): boolean =>
  settledByCount.has(finding.rule) &&
  finding.kind === 'ask' &&
  approvalsGiven > 0 &&
  blocking.some(({ rule, source }) => rule === 'required_approval_count' && source.id === finding.source.id)

/**
 * The smallest change that would have allowed the payment without an approval. `approvalsGiven` is what the mandate gives once it fits:
 * where the mandate itself must change, its approval comes with that change. Every blocking rule blocks alone, so each must change, and
 * only as far as leastThatSuffices says; a duplicate may be settled by its policy's count. More approvers are never the remedy: they turn
 * a denial into a wait, while the rules that require them are in the list anyway.
 */
export const remedyFor = (input: Evaluation, findings: readonly Finding[], approvalsGiven: number): Remedy => {
  const amount = input.payment.amountMinor
  const givenFor = (finding: Finding) => (mandateCounts(input, finding) ? approvalsGiven : 0)
  const blocking = findings.filter((finding) => verdict(finding, amount, givenFor(finding)) !== 'allow')
  return {
    maxAmountMinor: proposed(input, findings, largestAllowed(findings, givenFor)),
    changes: blocking
      .filter((finding) => !isSettledByCount(finding, blocking, givenFor(finding)))
      .map((finding) => {
        const toMinor = leastThatSuffices(finding, amount)
        return { source: finding.source, rule: finding.rule, ...(toMinor !== undefined && { toMinor }) }
      }),
    passesAt: whenItPasses(input, blocking),
  }
}
