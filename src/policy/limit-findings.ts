import type { Finding } from './finding.ts'
import { namesPayee, namesType } from './scope.ts'
import type { GrantRules, Limits, PaymentFacts, Periods, PolicyRules, TraceSource, Usage } from './types.ts'

const caps = (source: TraceSource, limits: Limits, usage: Usage, periods: Periods): Finding[] => {
  const { perPaymentLimitMinor: perPayment, dailyLimitMinor: daily, monthlyLimitMinor: monthly } = limits
  const { dayResetsAt, monthResetsAt } = periods
  const findings: Finding[] = []
  if (perPayment !== null) findings.push({ kind: 'cap', source, rule: 'per_payment_limit', limitMinor: perPayment })
  if (daily !== null)
    findings.push({
      kind: 'cap',
      source,
      rule: 'daily_limit',
      limitMinor: daily,
      usedMinor: usage.dayMinor,
      resetsAt: dayResetsAt,
    })
  if (monthly !== null)
    findings.push({
      kind: 'cap',
      source,
      rule: 'monthly_limit',
      limitMinor: monthly,
      usedMinor: usage.monthMinor,
      resetsAt: monthResetsAt,
    })
  return findings
}

export const policyFindings = (policy: PolicyRules, periods: Periods): Finding[] => {
  const source: TraceSource = { kind: 'policy', id: policy.id, name: policy.name }
  const { approvalThresholdMinor: thresholdMinor, requiredApprovalCount: approvals } = policy
  const findings = caps(source, policy, policy.usage, periods)
  // A threshold with count 0 is refused on input; if one were stored all the same, it must not lose its effect.
  if (thresholdMinor !== null)
    findings.push({ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals: Math.max(1, approvals) })
  else if (approvals > 0) findings.push({ kind: 'ask', source, rule: 'required_approval_count', thresholdMinor, approvals })
  return findings
}

export const grantFindings = (grant: GrantRules, payment: PaymentFacts, periods: Periods): Finding[] => {
  const source: TraceSource = { kind: 'grant', id: grant.id, name: grant.name }
  const { paymentTypes, beneficiaryIds, approvalThresholdMinor: thresholdMinor } = grant
  const findings: Finding[] = []
  if (paymentTypes) findings.push({ kind: 'gate', source, rule: 'payment_types', passes: namesType(paymentTypes, payment) })
  if (beneficiaryIds)
    findings.push({ kind: 'gate', source, rule: 'beneficiary_ids', passes: namesPayee(beneficiaryIds, payment) })
  findings.push(...caps(source, grant, grant.usage, periods))
  if (thresholdMinor !== null) findings.push({ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals: 1 })
  return findings
}
