// This file contains no schema and no query, because the receipt verifier includes it.

import { isoTime } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { formatMinor, formatMinorOrNull } from '../../lib/money.ts'
import { explain } from '../../policy/explain.ts'
import type { Decision as EngineDecision, Remedy, TraceEntry, TraceSource, Warning } from '../../policy/types.ts'
import { presentCreator } from '../present-creator.ts'
import type { Decision } from './schema.ts'

/** The id of a policy that is only proposed, as in a simulation. */
export const proposedPolicyId: Uuid = 'ffffffff-ffff-7fff-bfff-ffffffffffff'

type PresentedEntry = NonNullable<Decision['trace']>[number]

const kindsWithId = ['policy', 'grant', 'mandate'] as const

const presentSource = (source: TraceSource): PresentedEntry['source'] => {
  const kind = kindsWithId.find((each) => each === source.kind)
  const id = source.id !== null && source.id !== proposedPolicyId && kind ? formatId(kind, source.id) : null
  return { kind: source.kind, id, name: source.name }
}

const presentEntry = (entry: TraceEntry): PresentedEntry => ({
  source: presentSource(entry.source),
  rule: entry.rule,
  outcome: entry.outcome,
  ...(entry.limitMinor !== undefined && { limit_minor: formatMinor(entry.limitMinor) }),
  ...(entry.usedMinor !== undefined && { used_minor: formatMinor(entry.usedMinor) }),
  ...(entry.requestedMinor !== undefined && { requested_minor: formatMinor(entry.requestedMinor) }),
  ...(entry.resetsAt !== undefined && { resets_at: isoTime(entry.resetsAt) }),
  ...(entry.requiredApprovals !== undefined && { required_approvals: entry.requiredApprovals }),
  ...(entry.approverIds && { approver_ids: entry.approverIds.map((id) => formatId('account', id)) }),
  ...(entry.eligibleApprovers !== undefined && { eligible_approvers: entry.eligibleApprovers }),
  ...(entry.approvalProof !== undefined && { approval_proof: entry.approvalProof }),
  ...(entry.decisive !== undefined && { decisive: entry.decisive }),
})

/** Limits the trace, so that a payment's answer does not grow with the workspace's policies. */
const maxRules = 50

const presentRemedy = (remedy: Remedy): NonNullable<Decision['remedy']> => ({
  max_amount_minor: formatMinorOrNull(remedy.maxAmountMinor),
  changes_count: remedy.changes.length,
  changes: remedy.changes.slice(0, maxRules).map((change) => ({
    source: presentSource(change.source),
    rule: change.rule,
    ...(change.toMinor !== undefined && { to_minor: formatMinor(change.toMinor) }),
  })),
  passes_at: remedy.passesAt ? isoTime(remedy.passesAt) : null,
})

const remaining = ({ limitMinor, usedMinor, requestedMinor }: TraceEntry): bigint | null =>
  limitMinor === undefined ? null : limitMinor - (usedMinor ?? 0n) - (requestedMinor ?? 0n)

/** Deciding rules first, then rules with a limit, the nearest limit first. */
const byRelevance = (a: TraceEntry, b: TraceEntry): number => {
  if ((a.decisive ?? false) !== (b.decisive ?? false)) return a.decisive ? -1 : 1
  const [left, right] = [remaining(a), remaining(b)]
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  return left < right ? -1 : left > right ? 1 : 0
}

/** The most relevant entries, in the order of evaluation. */
const mostRelevant = (trace: readonly TraceEntry[]): readonly TraceEntry[] => {
  if (trace.length <= maxRules) return trace
  const kept = new Set(trace.toSorted(byRelevance).slice(0, maxRules))
  return trace.filter((entry) => kept.has(entry))
}

/** Removes the trace from a record's decision, for lists and events. */
export const withoutTrace = <Of extends { decision: Decision }>(record: Of): Of => {
  const { trace: _, ...decision } = record.decision
  return { ...record, decision }
}

export const presentWarning = (warning: Warning): Decision['warnings'][number] => {
  switch (warning.code) {
    case 'possible_duplicate':
      return { code: warning.code, payment_id: formatId('payment', warning.paymentId), created_at: isoTime(warning.createdAt) }
    case 'similar_name':
      return { code: warning.code, beneficiary_id: formatId('beneficiary', warning.beneficiaryId), name: warning.name }
    case 'name_differs':
      return { code: warning.code, name: warning.name, given_name: warning.givenName }
    case 'name_mismatch':
      return warning
    case 'unusual_amount':
      return { code: warning.code, typical_amount_minor: formatMinor(warning.typicalAmountMinor) }
    case 'new_payee':
    case 'changed_payee':
      return { code: warning.code, by: presentCreator(warning.by), at: isoTime(warning.at) }
  }
}

export const presentDecision = (decision: EngineDecision, currency: string): Decision => ({
  outcome: decision.outcome,
  explanation: explain(decision, currency),
  required_approvals: decision.requiredApprovals,
  separation_of_duties: decision.separationOfDuties,
  approval_proof: decision.approvalProof,
  ...(decision.approverIds && { approver_ids: decision.approverIds.map((id) => formatId('account', id)) }),
  approvals_by_mandate: decision.approvalsByMandate,
  policy_versions: decision.policyVersions
    .filter(({ id }) => id !== proposedPolicyId)
    .map(({ id, version }) => ({ id: formatId('policy', id), version })),
  warnings: decision.warnings.map(presentWarning),
  rules_considered: decision.trace.length,
  trace: mostRelevant(decision.trace).map(presentEntry),
  ...(decision.remedy && { remedy: presentRemedy(decision.remedy) }),
})
