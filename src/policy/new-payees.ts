import type { NewPayeeAnswer } from '../lib/policy-answers.ts'
import type { Finding } from './finding.ts'
import type { Evaluation, PaymentFacts, TraceSource, Warning } from './types.ts'

const rule = 'unconfirmed_payee'

/** What a policy or a grant says about a payee that no person has confirmed. Of one that is confirmed it says nothing. */
export const newPayeeFindings = (
  { payee }: PaymentFacts,
  source: TraceSource,
  answer: NewPayeeAnswer | null,
  approvals: number,
): Finding[] => {
  if (answer === null || payee.confirmed) return []
  if (answer !== 'require_approval') return [{ kind: 'gate', source, rule, passes: answer === 'allow' }]
  return [{ kind: 'ask', source, rule, thresholdMinor: null, approvals: Math.max(1, approvals) }]
}

/**
 * Whether the mandate's approval counts for a rule: who signed in advance has agreed to a new payee, or to one of another name, only where the mandate names it, and knew
 * nothing of a payment whose outcome is unknown.
 */
export const mandateCounts = ({ mandate, payment }: Evaluation, finding: Finding): boolean => {
  if (finding.kind !== 'ask') return true
  if (finding.rule === 'earlier_unknown' || finding.rule === 'mandate_unconfirmed') return false
  const isAboutPayee = finding.rule === rule || finding.rule === 'payee_verification'
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
