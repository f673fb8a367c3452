import { duplicateFindingsOf } from './duplicates.ts'
import { dailyCap, type Finding, monthlyCap, perPaymentCap } from './finding.ts'
import { newPayeeFindings } from './new-payees.ts'
import { allowsPayee, namesType, unapprovedUnderGrant } from './scope.ts'
import type { Evaluation, GrantRules, TraceSource } from './types.ts'

export const grantFindings = (grant: GrantRules, input: Evaluation): Finding[] => {
  const { payment, periods } = input
  const source: TraceSource = { kind: 'grant', id: grant.id, name: grant.name }
  const { paymentTypes, beneficiaryIds, approvalThresholdMinor: thresholdMinor } = grant
  const findings: Finding[] = []
  if (paymentTypes) findings.push({ kind: 'gate', source, rule: 'payment_types', passes: namesType(paymentTypes, payment) })
  if (beneficiaryIds)
    findings.push({ kind: 'gate', source, rule: 'beneficiary_ids', passes: allowsPayee(beneficiaryIds, payment) })
  for (const cap of [perPaymentCap, dailyCap, monthlyCap]) findings.push(...cap(source, grant, periods))
  if (thresholdMinor !== null) {
    const usedMinor = unapprovedUnderGrant(input, grant.id)
    findings.push({ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals: 1, usedMinor })
  }
  findings.push(...newPayeeFindings(payment, source, grant.newPayees ?? 'require_approval', 1))
  findings.push(...duplicateFindingsOf(grant.onDuplicate, source, input))
  return findings
}
