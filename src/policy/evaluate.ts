import type { Minor } from '../lib/money.ts'
import { type Outcome, outcomes, strictestProof } from '../lib/policy-answers.ts'
import {
  applicablePolicies,
  approvalsRequired,
  type Finding,
  gate,
  grantFindings,
  mandateCounts,
  mandateFindings,
  policyFindings,
  requestFindings,
  sourceOf,
  traceEntry,
  verdict,
} from './findings.ts'
import { remedyFor } from './remedy.ts'
import { byText } from './scope.ts'
import type { Charge, Decision, Evaluation, PolicyRules, TraceEntry } from './types.ts'
import { warningsOf } from './warnings.ts'

/** The accounts named by every policy with a list; undefined if no policy has a list. */
const namedApprovers = (policies: readonly Pick<PolicyRules, 'approverIds'>[]): readonly string[] | undefined => {
  const [first, ...others] = policies.flatMap(({ approverIds }) => (approverIds?.length ? [approverIds] : []))
  return first?.filter((id) => others.every((list) => list.includes(id)))
}

const signerMayApprove = (
  { mandate, payment, approvers }: Evaluation,
  separationOfDuties: boolean,
  approverIds: readonly string[] | undefined,
): boolean =>
  mandate !== null &&
  (approverIds === undefined || approverIds.includes(mandate.signerAccountId)) &&
  approvers.eligibleAccountIds.includes(mandate.signerAccountId) &&
  !(separationOfDuties && mandate.signerAccountId === payment.initiatorAccountId)

/** The last trace entries: whether the mandate's signer may approve, and whether enough people can give the other approvals. */
const quorumEntries = (
  { mandate, payment, approvers }: Pick<Evaluation, 'approvers' | 'mandate'> & { payment: { initiatorAccountId: string } },
  quorum: Pick<Decision, 'requiredApprovals' | 'approvalsByMandate' | 'separationOfDuties' | 'approvalProof' | 'approverIds'>,
  mayApprove: boolean,
): TraceEntry[] => {
  if (quorum.requiredApprovals === 0) return []
  const isSigned = quorum.approvalProof === 'signature'
  const { approverIds } = quorum
  const eligible = isSigned ? approvers.signingAccountIds : approvers.eligibleAccountIds
  const able = new Set(approverIds ? eligible.filter((id) => approverIds.includes(id)) : eligible)
  // A payment by an API key or an agent counts as its account's own, and the mandate's signer has already counted once.
  if (quorum.separationOfDuties) able.delete(payment.initiatorAccountId)
  if (mandate && quorum.approvalsByMandate > 0) able.delete(mandate.signerAccountId)
  const needed = quorum.requiredApprovals - quorum.approvalsByMandate
  const outcome = mayApprove ? 'allow' : 'require_approval'
  return [
    // If the signer is excluded, the mandate's own findings say so.
    ...(mandate && mandate.standing !== 'excluded'
      ? [{ source: sourceOf('mandate', mandate), rule: 'mandate_signer', outcome } as const]
      : []),
    {
      source: { kind: 'policy', id: null, name: null },
      rule: 'eligible_approvers',
      outcome: needed > able.size ? 'deny' : 'allow',
      requiredApprovals: needed,
      eligibleApprovers: able.size,
      ...(approverIds && { approverIds }),
      ...(isSigned && { approvalProof: 'signature' }),
    },
  ]
}

const strictest = (trace: readonly TraceEntry[]): Outcome =>
  outcomes[Math.max(0, ...trace.map((entry) => outcomes.indexOf(entry.outcome)))] ?? 'deny'

/** Evaluates every rule, without skipping any; the strictest verdict decides (README). Usage excludes this payment. */
export const evaluate = (input: Evaluation): Decision => {
  const { payment, grants, mandate } = input
  const amount = payment.amountMinor
  const policies = applicablePolicies(input)
  const fromMandate = mandate ? mandateFindings(mandate, payment) : []
  const findings: Finding[] = [
    gate({ kind: 'capability', id: null, name: 'payments' }, 'payments', input.capabilities.payments),
    ...policies.flatMap((policy) => policyFindings(policy, input)),
    ...grants.flatMap((grant) => grantFindings(grant, input)),
    ...fromMandate,
    ...requestFindings(input),
  ]

  // Every policy that applies restricts the approvers, even if another policy requires the approval.
  const dutiesSeparated = policies.some((policy) => policy.separationOfDuties)
  const approverIds = namedApprovers(policies)
  const mayApprove = signerMayApprove(input, dutiesSeparated, approverIds)
  const quorumFor = (minor: Minor) => {
    const required = Math.max(0, ...findings.map((finding) => approvalsRequired(finding, minor)))
    const mandateFits =
      mandate !== null &&
      findings.every((finding) => mandateCounts(input, finding)) &&
      fromMandate.every((finding) => verdict(finding, minor, 0) === 'allow')
    return {
      requiredApprovals: required,
      separationOfDuties: required > 0 && dutiesSeparated,
      approvalProof: required > 0 ? strictestProof(policies.map(({ approvalProof }) => approvalProof)) : ('any' as const),
      approvalsByMandate: required > 0 && mandateFits && mayApprove ? 1 : 0,
      ...(required > 0 && approverIds && { approverIds }),
    }
  }
  const quorum = quorumFor(amount)
  const trace = [
    ...findings.map((finding) => traceEntry(finding, amount, quorum.approvalsByMandate)),
    ...quorumEntries(input, quorum, mayApprove),
  ]
  const outcome = strictest(trace)
  const decided = {
    outcome,
    ...quorum,
    ...(mandate && quorum.approvalsByMandate > 0 && { mandateApproverAccountId: mandate.signerAccountId }),
    policyVersions: policies.map(({ id, version }) => ({ id, version })),
    warnings: warningsOf(input, policies),
  }
  if (outcome === 'allow') return { ...decided, trace }
  return {
    ...decided,
    trace: trace.map((entry) => (entry.outcome === outcome ? { ...entry, decisive: true } : entry)),
    remedy: remedyFor(input, findings, {
      approvalsGiven: mayApprove ? 1 : 0,
      // A receipt contains the remedy and can be evaluated again, so the remedy of a past payment must not change.
      canBeApproved: (minor) =>
        outcome !== 'deny' || quorumEntries(input, quorumFor(minor), mayApprove).every((entry) => entry.outcome !== 'deny'),
    }),
  }
}

/** Denies a batch whose only approval too few people can give, even if enough people can approve each item alone. */
export const batchDenial = (
  needs: Pick<Decision, 'requiredApprovals' | 'separationOfDuties' | 'approvalProof' | 'policyVersions'>,
  policies: readonly Pick<PolicyRules, 'id' | 'approverIds'>[],
  input: Omit<Parameters<typeof quorumEntries>[0], 'mandate'>,
): Decision | null => {
  const approverIds = namedApprovers(policies.filter(({ id }) => needs.policyVersions.some((version) => version.id === id)))
  const quorum = { ...needs, approvalsByMandate: 0, ...(approverIds && { approverIds }) }
  const trace = quorumEntries({ ...input, mandate: null }, quorum, false).map((entry) => ({ ...entry, decisive: true }))
  return trace.some(({ outcome }) => outcome === 'deny') ? { ...quorum, outcome: 'deny', warnings: [], trace } : null
}

/** Whether a payment made or due at this time counts in a total. */
export const countsInTotal = ({ totalCountedSince: since }: { totalCountedSince: Date | null }, madeAt: Date): boolean =>
  since !== null && madeAt >= since

/** Charges with or without limits, in one order for all writers. `madeAt`: creation time, or due time of a scheduled payment. */
export const chargesFor = (input: Evaluation, madeAt = input.payment.at): Charge[] => {
  const { grants, mandate, periods } = input
  const chargesTo = (subject: Charge['subject'], rules: { id: string; totalCountedSince: Date | null }): Charge[] => [
    { subject, subjectId: rules.id, period: 'day', periodStart: periods.day },
    { subject, subjectId: rules.id, period: 'month', periodStart: periods.month },
    ...(countsInTotal(rules, madeAt) ? [{ subject, subjectId: rules.id, period: 'total' as const, periodStart: null }] : []),
  ]
  const charges = [
    ...grants.flatMap((grant) => chargesTo('grant', grant)),
    ...applicablePolicies(input).flatMap((policy) => chargesTo('policy', policy)),
  ]
  if (mandate) charges.push({ subject: 'mandate', subjectId: mandate.id, period: 'total', periodStart: null })
  return charges.sort((a, b) => byText(a.subject, b.subject) || byText(a.subjectId, b.subjectId) || byText(a.period, b.period))
}

/** `signedAccountIds`: approvers with a passkey or wallet signature. */
export type GivenApprovals = {
  approverAccountIds: readonly string[]
  signedAccountIds: readonly string[]
  initiatorAccountId: string
}

/** Whether the approvals so far satisfy a new decision. One approver counts once. */
export const stillCovered = (decision: Decision, approvals: GivenApprovals): boolean => {
  if (decision.outcome === 'deny') return false
  const approvers = new Set(decision.approvalProof === 'signature' ? approvals.signedAccountIds : approvals.approverAccountIds)
  if (decision.mandateApproverAccountId !== undefined) approvers.add(decision.mandateApproverAccountId)
  if (decision.separationOfDuties) approvers.delete(approvals.initiatorAccountId)
  const { approverIds } = decision
  if (approverIds) for (const id of approvers) if (!approverIds.includes(id)) approvers.delete(id)
  return approvers.size >= decision.requiredApprovals
}
