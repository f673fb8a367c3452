import type { Minor } from '../lib/money.ts'
import { type DuplicateAnswer, type NewPayeeAnswer, type Outcome, ofRequest, type RuleAnswer } from '../lib/policy-answers.ts'
import { type PolicyField, policyFieldNames } from './fields.ts'
import type { RuleName } from './rules.ts'
import {
  allowsPayee,
  bindsPayer,
  byText,
  namesPayee,
  namesType,
  towardsThreshold,
  unapprovedUnderGrant,
  unapprovedUnderPolicy,
} from './scope.ts'
import type {
  Decision,
  Evaluation,
  GrantRules,
  Limits,
  MandateRules,
  PayeeFacts,
  PaymentFacts,
  Periods,
  PolicyRules,
  TraceEntry,
  TraceSource,
  Usage,
} from './types.ts'

type RuleOrigin = { source: TraceSource; rule: RuleName }

/** A condition that is independent of the amount. */
type Gate = RuleOrigin & { kind: 'gate'; passes: boolean; resetsAt?: Date }
/** Usage and amount together may reach the limit, but not exceed it. */
type Cap = RuleOrigin & { kind: 'cap'; limitMinor: Minor; usedMinor?: Minor; resetsAt?: Date }
/** Applies from the threshold, or always. `usedMinor`: paid to the payee today with fewer approvals, to prevent splitting. */
type ApprovalRule = RuleOrigin & {
  kind: 'ask'
  thresholdMinor: Minor | null
  approvals: number
  usedMinor?: Minor
  resetsAt?: Date
}

/** A rule with its numbers, not yet compared with an amount. Verdict, trace and remedy derive from it, so they agree. */
export type Finding = Gate | Cap | ApprovalRule

export const gate = (source: TraceSource, rule: RuleName, passes: boolean): Gate => ({ kind: 'gate', source, rule, passes })

const ask = (source: TraceSource, rule: RuleName, approvals: number): ApprovalRule => ({
  kind: 'ask',
  source,
  rule,
  thresholdMinor: null,
  approvals,
})

const reached = (rule: Cap | ApprovalRule, amount: Minor): Minor => (rule.usedMinor ?? 0n) + amount

export const approvalsRequired = (finding: Finding, amount: Minor): number =>
  finding.kind === 'ask' && (finding.thresholdMinor === null || reached(finding, amount) >= finding.thresholdMinor)
    ? finding.approvals
    : 0

export const verdict = (finding: Finding, amount: Minor, approvalsGiven: number): Outcome => {
  if (finding.kind === 'gate') return finding.passes ? 'allow' : 'deny'
  if (finding.kind === 'cap') return reached(finding, amount) <= finding.limitMinor ? 'allow' : 'deny'
  return approvalsRequired(finding, amount) > approvalsGiven ? 'require_approval' : 'allow'
}

/** The largest amount that the rule allows; null: no maximum; 0 or less: none. A threshold sets no maximum. */
export const ceiling = (finding: Finding, approvalsGiven: number): Minor | null => {
  if (finding.kind === 'gate') return finding.passes ? null : 0n
  if (finding.kind === 'cap') return finding.limitMinor - (finding.usedMinor ?? 0n)
  if (finding.approvals <= approvalsGiven) return null
  return finding.thresholdMinor === null ? 0n : null
}

/** The smallest limit or threshold that would allow the amount; undefined for a rule without an amount. */
export const leastThatSuffices = (finding: Finding, amount: Minor): Minor | undefined => {
  if (finding.kind === 'cap') return reached(finding, amount)
  if (finding.kind === 'ask' && finding.thresholdMinor !== null) return reached(finding, amount) + 1n
  return undefined
}

export const traceEntry = (finding: Finding, amount: Minor, approvalsGiven: number): TraceEntry => {
  const { source, rule } = finding
  const entry: TraceEntry = { source, rule, outcome: verdict(finding, amount, approvalsGiven) }
  if (finding.kind === 'gate') return finding.resetsAt && !finding.passes ? { ...entry, resetsAt: finding.resetsAt } : entry
  if (finding.kind === 'cap') {
    const { kind: _, ...numbers } = finding
    return { ...entry, ...numbers, requestedMinor: amount }
  }
  const threshold = finding.thresholdMinor !== null && { limitMinor: finding.thresholdMinor }
  const used = finding.usedMinor !== undefined && { usedMinor: finding.usedMinor }
  return { ...entry, ...threshold, ...used, requestedMinor: amount, requiredApprovals: approvalsRequired(finding, amount) }
}

/** Empty without a limit. */
const cap = (
  source: TraceSource,
  rule: RuleName,
  limitMinor: Minor | null,
  use?: { usedMinor: Minor; resetsAt?: Date },
): Cap[] => (limitMinor === null ? [] : [{ kind: 'cap', source, rule, limitMinor, ...use }])

const caps = (source: TraceSource, limits: Limits & { usage: Usage }, periods: Periods): Cap[] => {
  const { usage } = limits
  return [
    ...cap(source, 'per_payment_limit', limits.perPaymentLimitMinor),
    ...cap(source, 'daily_limit', limits.dailyLimitMinor, { usedMinor: usage.dayMinor, resetsAt: periods.dayResetsAt }),
    ...cap(source, 'monthly_limit', limits.monthlyLimitMinor, { usedMinor: usage.monthMinor, resetsAt: periods.monthResetsAt }),
    ...cap(source, 'total_limit', limits.totalLimitMinor ?? null, { usedMinor: usage.totalMinor ?? 0n }),
  ]
}

export const sourceOf = (kind: TraceSource['kind'], { id, name }: { id: string; name: string }): TraceSource => ({
  kind,
  id,
  name,
})

const findingOfAnswer = (answer: RuleAnswer, source: TraceSource, rule: RuleName, approvals: number): Finding =>
  answer === 'require_approval' ? ask(source, rule, Math.max(1, approvals)) : gate(source, rule, answer !== 'deny')

export const looksForDuplicates = (policy: PolicyRules): boolean =>
  policy.duplicateWindowSeconds !== null || policy.onDuplicate !== null

export const duplicateWindow = (input: Evaluation, policy: PolicyRules): number =>
  policy.duplicateWindowSeconds ?? input.duplicateWindowSeconds

/** When the earlier payment leaves the window; undefined if it already has, or if there is none. */
export const endOfWindow = ({ earlier, payment }: Evaluation, windowSeconds: number): Date | undefined => {
  if (!earlier) return undefined
  const end = new Date(earlier.createdAt.getTime() + windowSeconds * 1000)
  return payment.at < end ? end : undefined
}

const duplicateFindings = (
  answer: DuplicateAnswer | null,
  source: TraceSource,
  input: Evaluation,
  { windowSeconds = input.duplicateWindowSeconds, approvals = 1 } = {},
): Finding[] => {
  const resetsAt = endOfWindow(input, windowSeconds)
  if (answer === null || !resetsAt) return []
  const found =
    answer === 'confirm'
      ? gate(source, 'unconfirmed_duplicate', input.duplicateIsIntended)
      : findingOfAnswer(answer, source, 'possible_duplicate', approvals)
  return [{ ...found, resetsAt }]
}

/** Rules of the request itself. If an earlier payment's outcome is unknown, a key or an agent needs approval to repeat it. */
export const requestFindings = (input: Evaluation): Finding[] => {
  const { earlier, onDuplicate, payment } = input
  const asksPerson = earlier?.isUnknown && payment.grantLineage.length > 0
  return [
    ...duplicateFindings(onDuplicate, { kind: 'policy', id: null, name: ofRequest }, input),
    ...(asksPerson ? [ask({ kind: 'rail', id: null, name: null }, 'earlier_unknown', 1)] : []),
  ]
}

/** Whether only a missing confirmation of a duplicate stops the payment. */
export const onlyUnconfirmedDuplicate = ({ outcome, trace }: Pick<Decision, 'outcome' | 'trace'>): boolean =>
  outcome === 'deny' && trace.every((entry) => entry.outcome !== 'deny' || entry.rule === 'unconfirmed_duplicate')

/** Whether the rail reports the payee's name or a similar one. A missing name or answer confirms nothing. */
export const isNameConfirmed = ({ verification }: PayeeFacts): boolean =>
  verification === 'match' || verification === 'close_match'

/** Empty for a confirmed payee. */
const newPayeeFindings = (
  { payee }: PaymentFacts,
  source: TraceSource,
  answer: NewPayeeAnswer | null,
  approvals: number,
): Finding[] => (answer === null || payee.confirmed ? [] : [findingOfAnswer(answer, source, 'unconfirmed_payee', approvals)])

/** Rules that need a person, whatever a mandate approves. */
const needsPerson: ReadonlySet<RuleName> = new Set(['earlier_unknown', 'mandate_unconfirmed', 'mandate_signer'])

/** A mandate approves a new payee or an unconfirmed name only if it names the payee, and never a repeat of an unknown payment. */
export const mandateCounts = ({ mandate, payment }: Evaluation, { kind, rule }: Finding): boolean => {
  if (kind !== 'ask') return true
  if (needsPerson.has(rule)) return false
  const isAboutPayee = rule === 'unconfirmed_payee' || rule === 'payee_verification'
  return !isAboutPayee || (mandate !== null && mandate.beneficiaryIds.length > 0 && payment.payeeIsFixed)
}

type FieldFindings = (policy: PolicyRules, source: TraceSource, input: Evaluation) => Finding[]

/** Null: the field selects payments (`appliesTo`) or modifies other rules. The trace follows the order of `policyFields`. */
const findingsOfField: Readonly<Record<PolicyField, FieldFindings | null>> = {
  paymentTypes: null,
  beneficiaryIds: null,
  perPaymentLimitMinor: (policy, source, { periods }) => caps(source, policy, periods),
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  totalLimitMinor: null,
  // The API rejects a threshold with count 0. If one is stored anyway, it still requires one approval.
  approvalThresholdMinor: (policy, source, input) => {
    const { approvalThresholdMinor: thresholdMinor, requiredApprovalCount } = policy
    if (thresholdMinor === null) return []
    const approvals = Math.max(1, requiredApprovalCount)
    const usedMinor = towardsThreshold(input, policy.id, unapprovedUnderPolicy(input, policy, approvals))
    return [{ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals, usedMinor }]
  },
  requiredApprovalCount: ({ approvalThresholdMinor: thresholdMinor, requiredApprovalCount: approvals }, source) =>
    thresholdMinor === null && approvals > 0 ? [ask(source, 'required_approval_count', approvals)] : [],
  separationOfDuties: null,
  approvalProof: null,
  approverIds: null,
  duplicateWindowSeconds: null,
  onDuplicate: (policy, source, input) => {
    if (!looksForDuplicates(policy)) return []
    const by = { windowSeconds: duplicateWindow(input, policy), approvals: policy.requiredApprovalCount }
    const found = duplicateFindings(policy.onDuplicate ?? 'warn', source, input, by)
    return found.length > 0 ? found : [gate(source, 'possible_duplicate', true)]
  },
  newPayees: ({ newPayees, requiredApprovalCount }, source, { payment }) =>
    newPayeeFindings(payment, source, newPayees, requiredApprovalCount),
  payeeVerification: ({ payeeVerification: answer, requiredApprovalCount }, source, { payment: { payee } }) => {
    if (answer === null || answer === 'off') return []
    const isClear = answer === 'warn' || isNameConfirmed(payee)
    return [
      isClear
        ? gate(source, 'payee_verification', true)
        : findingOfAnswer(answer, source, 'payee_verification', requiredApprovalCount),
    ]
  },
}

const appliesTo = (policy: PolicyRules, payment: PaymentFacts): boolean =>
  bindsPayer(policy, payment) &&
  (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, payment)) &&
  (policy.beneficiaryIds.length === 0 || namesPayee(policy.beneficiaryIds, payment))

/** The policies that apply to the payment, oldest first (ids are UUIDv7), whatever the order in `policies`. */
export const applicablePolicies = ({ policies, payment }: Pick<Evaluation, 'policies' | 'payment'>): PolicyRules[] =>
  policies.filter((policy) => appliesTo(policy, payment)).sort((a, b) => byText(a.id, b.id))

export const policyFindings = (policy: PolicyRules, input: Evaluation): Finding[] => {
  const source = sourceOf('policy', policy)
  return policyFieldNames.flatMap((field) => findingsOfField[field]?.(policy, source, input) ?? [])
}

export const grantFindings = (grant: GrantRules, input: Evaluation): Finding[] => {
  const { payment, periods } = input
  const source = sourceOf('grant', grant)
  const { id, paymentTypes, beneficiaryIds, approvalThresholdMinor: thresholdMinor } = grant
  const findings: Finding[] = []
  if (paymentTypes) findings.push(gate(source, 'payment_types', namesType(paymentTypes, payment)))
  if (beneficiaryIds) findings.push(gate(source, 'beneficiary_ids', allowsPayee(beneficiaryIds, payment)))
  findings.push(...caps(source, grant, periods))
  if (thresholdMinor !== null) {
    const usedMinor = towardsThreshold(input, id, unapprovedUnderGrant(input, id))
    findings.push({ kind: 'ask', source, rule: 'approval_threshold', thresholdMinor, approvals: 1, usedMinor })
  }
  findings.push(...newPayeeFindings(payment, source, grant.newPayees ?? 'require_approval', 1))
  findings.push(...duplicateFindings(grant.onDuplicate, source, input))
  return findings
}

const isForInitiator = (mandate: MandateRules, payment: PaymentFacts): boolean =>
  mandate.grantId === null
    ? payment.initiatorAccountId === mandate.signerAccountId
    : payment.grantLineage.includes(mandate.grantId)

/** Denies a payment outside the mandate. Ignoring the mandate instead would evade the signed terms that the caller relies on. */
export const mandateFindings = (mandate: MandateRules, payment: PaymentFacts): Finding[] => {
  const source = sourceOf('mandate', mandate)
  const { beneficiaryIds, paymentTypes, maxPerPaymentMinor, maxPayments } = mandate
  return [
    gate(source, 'mandate_status', mandate.status === 'active'),
    gate(source, 'mandate_window', mandate.validFrom <= payment.at && payment.at < mandate.expiresAt),
    gate(source, 'mandate_workspace', mandate.workspaceId === payment.workspaceId),
    gate(source, 'mandate_initiator', isForInitiator(mandate, payment)),
    ...(mandate.standing === 'refused' ? [gate(source, 'mandate_signature', false)] : []),
    ...(mandate.standing === 'unanswered' ? [ask(source, 'mandate_unconfirmed', 1)] : []),
    // Otherwise small payments would count as approved toward a threshold, although nobody approved them.
    ...(mandate.standing === 'excluded' ? [ask(source, 'mandate_signer', 1)] : []),
    ...(paymentTypes.length > 0 ? [gate(source, 'mandate_payment_types', namesType(paymentTypes, payment))] : []),
    ...(beneficiaryIds.length > 0 ? [gate(source, 'mandate_beneficiary_ids', allowsPayee(beneficiaryIds, payment))] : []),
    ...cap(source, 'mandate_per_payment', maxPerPaymentMinor),
    ...cap(source, 'mandate_total', mandate.maxTotalMinor, { usedMinor: mandate.spentMinor }),
    ...(maxPayments !== null ? [gate(source, 'mandate_max_payments', mandate.paymentsMade < maxPayments)] : []),
  ]
}
