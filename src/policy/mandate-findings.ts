import type { Finding } from './finding.ts'
import type { RuleName } from './rules.ts'
import { allowsPayee, namesType } from './scope.ts'
import type { MandateRules, PaymentFacts, TraceSource } from './types.ts'

const isForInitiator = (mandate: MandateRules, payment: PaymentFacts): boolean =>
  mandate.grantId === null
    ? payment.initiatorAccountId === mandate.signerAccountId
    : payment.grantLineage.includes(mandate.grantId)

export const mandateSource = (mandate: MandateRules): TraceSource => ({ kind: 'mandate', id: mandate.id, name: mandate.name })

/**
 * What a payment must satisfy to use the mandate that it names. A payment that does not fit is denied: paying without the mandate instead
 * would spend outside the signed terms while the caller believes that they apply.
 */
export const mandateFindings = (mandate: MandateRules, payment: PaymentFacts): Finding[] => {
  const source = mandateSource(mandate)
  const { beneficiaryIds, paymentTypes, maxPerPaymentMinor, maxPayments } = mandate
  const gate = (rule: RuleName, passes: boolean): Finding => ({ kind: 'gate', source, rule, passes })
  const findings: Finding[] = [
    gate('mandate_status', mandate.status === 'active'),
    gate('mandate_window', mandate.validFrom <= payment.at && payment.at < mandate.expiresAt),
    gate('mandate_workspace', mandate.workspaceId === payment.workspaceId),
    gate('mandate_initiator', isForInitiator(mandate, payment)),
  ]
  // Said only of a wallet that does not stand behind its signature: most have a key, and always do.
  if (mandate.standing === 'refused') findings.push(gate('mandate_signature', false))
  if (mandate.standing === 'unanswered')
    findings.push({ kind: 'ask', source, rule: 'mandate_unconfirmed', thresholdMinor: null, approvals: 1 })
  if (paymentTypes.length > 0) findings.push(gate('mandate_payment_types', namesType(paymentTypes, payment)))
  if (beneficiaryIds.length > 0) findings.push(gate('mandate_beneficiary_ids', allowsPayee(beneficiaryIds, payment)))
  if (maxPerPaymentMinor !== null)
    findings.push({ kind: 'cap', source, rule: 'mandate_per_payment', limitMinor: maxPerPaymentMinor })
  findings.push({ kind: 'cap', source, rule: 'mandate_total', limitMinor: mandate.maxTotalMinor, usedMinor: mandate.spentMinor })
  if (maxPayments !== null) findings.push(gate('mandate_max_payments', mandate.paymentsMade < maxPayments))
  return findings
}
