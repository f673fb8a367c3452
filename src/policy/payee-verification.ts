import { type PayeeVerificationAnswer, payeeVerificationAnswers } from '../lib/policy-answers.ts'
import type { Finding } from './finding.ts'
import type { Evaluation, PayeeFacts, PolicyRules, TraceSource, Warning } from './types.ts'

const rule = 'payee_verification'

/** The rail reports the payee's name. No name, and no answer, confirm nothing. */
const isConfirmed = ({ verification }: PayeeFacts): boolean => verification === 'match' || verification === 'close_match'

/** What a policy says about a payee whose name the rail has not confirmed. */
export const verificationFindings = (
  { payeeVerification: answer, requiredApprovalCount }: PolicyRules,
  source: TraceSource,
  { payment: { payee } }: Evaluation,
): Finding[] => {
  if (answer === null || answer === 'off') return []
  if (answer !== 'require_approval') return [{ kind: 'gate', source, rule, passes: answer !== 'deny' || isConfirmed(payee) }]
  if (isConfirmed(payee)) return [{ kind: 'gate', source, rule, passes: true }]
  return [{ kind: 'ask', source, rule, thresholdMinor: null, approvals: Math.max(1, requiredApprovalCount) }]
}

const strictest = (policies: readonly PolicyRules[]): PayeeVerificationAnswer | null =>
  payeeVerificationAnswers.findLast((answer) => policies.some((policy) => policy.payeeVerification === answer)) ?? null

/** Another name is worth a warning without any policy; no name only where a policy wants one. */
export const nameWarnings = ({ payment: { payee } }: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const answer = strictest(policies)
  const warns = answer === null ? payee.verification === 'no_match' : answer !== 'off' && !isConfirmed(payee)
  return warns ? [{ code: 'name_mismatch', verification: payee.verification, name: payee.reportedName }] : []
}
