import type { Minor } from '../lib/money.ts'
import { payeeVerificationAnswers } from '../lib/policy-answers.ts'
import { duplicateWindow, endOfWindow, isNameConfirmed, looksForDuplicates } from './findings.ts'
import type { Evaluation, PolicyRules, Warning } from './types.ts'

// The warnings of a decision, which never change its outcome.

/** Whether the policy replaces the service's own warnings. Otherwise, it adds to them. */
const replacesWarnings = ({ boundPoliciesOnlyWarn }: Evaluation, { bindsGrantId }: PolicyRules): boolean =>
  !boundPoliciesOnlyWarn || bindsGrantId === null

/** Uses the widest window of the policies and the request that look for duplicates, otherwise the service's own. */
const duplicateWarnings = (input: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const duplicatePolicies = policies.filter(looksForDuplicates)
  const isReplaced = input.onDuplicate === null && duplicatePolicies.some((policy) => replacesWarnings(input, policy))
  const windows = duplicatePolicies.map((policy) => duplicateWindow(input, policy))
  const widest = Math.max(...windows, ...(isReplaced ? [] : [input.duplicateWindowSeconds]))
  if (!input.earlier || !(endOfWindow(input, widest) || input.earlier.isUnknown)) return []
  const { paymentId, createdAt, listIndex } = input.earlier
  return [{ code: 'possible_duplicate', paymentId, createdAt, ...(listIndex !== undefined && { listIndex }) }]
}

const recentMs = 7 * 86_400_000

/** A person needs no warning about their own change. */
const payeeWarnings = ({ payment: { payee, at, initiatorAccountId, grantLineage } }: Evaluation): Warning[] => {
  const { change } = payee
  const own = change?.by.accountId === initiatorAccountId && change.by.grantId === null && grantLineage.length === 0
  const recent = change && at.getTime() - change.at.getTime() < recentMs
  if (change && ((recent && !own) || !payee.confirmed)) return [{ code: 'changed_payee', by: change.by, at: change.at }]
  return payee.confirmed ? [] : [{ code: 'new_payee', by: payee.createdBy, at: payee.createdAt }]
}

/** By default, only a different name causes a warning. A policy may require a confirmed name, or disable these warnings. */
const nameWarnings = (input: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const { payee } = input.payment
  const answers = policies
    .filter((policy) => policy.payeeVerification !== 'off' || replacesWarnings(input, policy))
    .map((policy) => policy.payeeVerification)
  const strictest = payeeVerificationAnswers.findLast((answer) => answers.includes(answer))
  const warns = strictest === undefined ? payee.verification === 'no_match' : strictest !== 'off' && !isNameConfirmed(payee)
  return warns ? [{ code: 'name_mismatch', verification: payee.verification, name: payee.reportedName }] : []
}

/** The number of past payments considered. Their median is the usual amount, so one unusual payment does not change it. */
export const maxRemembered = 9
const minRemembered = 3

/** A payee's usual amount, from the last amounts paid to it; null if there are too few. */
export const typicalAmount = (lastPaid: readonly Minor[]): Minor | null => {
  if (lastPaid.length < minRemembered) return null
  const sorted = lastPaid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

const unusualFactor = 5n

export const unusualAmount = (
  amountMinor: Minor,
  typicalAmountMinor: Minor | null,
): Extract<Warning, { code: 'unusual_amount' }>[] =>
  typicalAmountMinor !== null && amountMinor > typicalAmountMinor * unusualFactor
    ? [{ code: 'unusual_amount', typicalAmountMinor }]
    : []

export const warningsOf = (input: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const { amountMinor, otherName, payee } = input.payment
  return [
    ...duplicateWarnings(input, policies),
    ...(otherName ? [{ code: 'name_differs' as const, ...otherName }] : []),
    ...payeeWarnings(input),
    // The name of a payee that was never paid resembles a paid one's.
    ...(payee.similarTo === null ? [] : [{ code: 'similar_name' as const, ...payee.similarTo }]),
    ...nameWarnings(input, policies),
    ...unusualAmount(amountMinor, payee.typicalAmountMinor),
  ]
}
