import type { Minor } from '../lib/money.ts'
import { type NewPayeeAnswer, type PayeeVerificationAnswer, payeeVerificationAnswers } from '../lib/policy-answers.ts'
import { ask, type Finding, gate } from './finding.ts'
import type { Evaluation, PayeeFacts, PaymentFacts, PolicyRules, TraceSource, Warning } from './types.ts'

const unverified = 'payee_verification'

/** The rail reports the payee's name. No name, and no answer, confirm nothing. */
const isConfirmed = ({ verification }: PayeeFacts): boolean => verification === 'match' || verification === 'close_match'

/** What a policy says about a payee whose name the rail has not confirmed. */
export const verificationFindings = (
  { payeeVerification: answer, requiredApprovalCount }: PolicyRules,
  source: TraceSource,
  { payment: { payee } }: Evaluation,
): Finding[] => {
  if (answer === null || answer === 'off') return []
  if (answer !== 'require_approval') return [gate(source, unverified, answer !== 'deny' || isConfirmed(payee))]
  return [isConfirmed(payee) ? gate(source, unverified, true) : ask(source, unverified, Math.max(1, requiredApprovalCount))]
}

const strictest = (policies: readonly PolicyRules[]): PayeeVerificationAnswer | null =>
  payeeVerificationAnswers.findLast((answer) => policies.some((policy) => policy.payeeVerification === answer)) ?? null

/** Another name is worth a warning without any policy; no name only where a policy wants one. */
export const nameWarnings = ({ payment: { payee } }: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const answer = strictest(policies)
  const warns = answer === null ? payee.verification === 'no_match' : answer !== 'off' && !isConfirmed(payee)
  return warns ? [{ code: 'name_mismatch', verification: payee.verification, name: payee.reportedName }] : []
}

const unconfirmed = 'unconfirmed_payee'

/** What a policy or a grant says about a payee that no person has confirmed. Of one that is confirmed it says nothing. */
export const newPayeeFindings = (
  { payee }: PaymentFacts,
  source: TraceSource,
  answer: NewPayeeAnswer | null,
  approvals: number,
): Finding[] => {
  if (answer === null || payee.confirmed) return []
  if (answer !== 'require_approval') return [gate(source, unconfirmed, answer === 'allow')]
  return [ask(source, unconfirmed, Math.max(1, approvals))]
}

/**
 * Whether the mandate's approval counts for a rule: who signed in advance has agreed to a new payee, or to one of another name, only where the mandate names it, and knew
 * nothing of a payment whose outcome is unknown.
 */
export const mandateCounts = ({ mandate, payment }: Evaluation, finding: Finding): boolean => {
  if (finding.kind !== 'ask') return true
  if (finding.rule === 'earlier_unknown' || finding.rule === 'mandate_unconfirmed') return false
  const isAboutPayee = finding.rule === unconfirmed || finding.rule === unverified
  return !isAboutPayee || (mandate !== null && mandate.beneficiaryIds.length > 0 && payment.payeeIsFixed)
}

const recentMs = 7 * 86_400_000

/** What people should know about who made the payee. A person's own change is no news to that person. */
export const payeeWarnings = ({ payment: { payee, at, initiatorAccountId, grantLineage } }: Evaluation): Warning[] => {
  const { change } = payee
  const own = change?.by.accountId === initiatorAccountId && change.by.grantId === null && grantLineage.length === 0
  const recent = change && at.getTime() - change.at.getTime() < recentMs
  if (change && ((recent && !own) || !payee.confirmed)) return [{ code: 'changed_payee', by: change.by, at: change.at }]
  return payee.confirmed ? [] : [{ code: 'new_payee', by: payee.createdBy, at: payee.createdAt }]
}

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
