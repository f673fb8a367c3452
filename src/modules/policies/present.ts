import { presenter } from '../../http/presenter.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId, type IdKind, type Uuid } from '../../lib/ids.ts'
import { formatMinor, minor } from '../../lib/money.ts'
import { explain } from '../../policy/explain.ts'
import { namesCustomTypesOnly } from '../../policy/scope.ts'
import type { Decision as Decided, Remedy, TraceEntry, TraceSource, Usage, Warning } from '../../policy/types.ts'
import { presentMaker, presentMakers } from '../present-maker.ts'
import type { PolicyRecord } from './queries.ts'
import { type Decision, Policy, type PolicyChange } from './schema.ts'

const customTypes = {
  code: 'custom_payment_types' as const,
  message:
    "Initiators choose the payment type, so they can avoid this rule. To bind them, name rails or beneficiaries, or use the grant's own allow-list.",
}

/** `message`: the text that confirms a waiting change. It names this request alone, so a signature confirms no other. */
const presentPending = (record: PolicyRecord): Policy['pending_change'] => {
  const { pendingChangeBy, pendingChangeAt, pendingChangeEffectiveAt } = record
  if (pendingChangeBy === null || !pendingChangeAt || !pendingChangeEffectiveAt) return null
  const change = record.pendingChange as PolicyChange
  const requestedBy = formatId('account', pendingChangeBy)
  const message = [
    'CONFIRM a change that makes a spending policy less strict. It holds at once.',
    '',
    `Policy: ${formatId('policy', record.id)}`,
    `Workspace: ${formatId('workspace', record.workspaceId)}`,
    'Change:',
    ...Object.entries(change).map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`),
    `Requested by: ${requestedBy}`,
    `Requested at: ${isoTime(pendingChangeAt)}`,
  ].join('\n')
  return { change, requested_by: requestedBy, effective_at: isoTime(pendingChangeEffectiveAt), message }
}

/** Empty where nothing waits. */
export const pendingMessage = (record: PolicyRecord): string => presentPending(record)?.message ?? ''

const shown = presenter(Policy)

export const presentPolicy = (record: PolicyRecord, usage?: Usage): Policy =>
  shown(record, {
    binds: record.bindsGrantId === null ? 'all' : { grant_id: formatId('grant', record.bindsGrantId) },
    warnings: namesCustomTypesOnly(record.paymentTypes) ? [customTypes] : [],
    status: record.archivedAt ? 'archived' : 'active',
    pending_change: presentPending(record),
    ...(usage && { usage: { today_minor: formatMinor(usage.dayMinor), month_minor: formatMinor(usage.monthMinor) } }),
    ...presentMakers(record),
  })

/** The id of a policy that is only proposed, as in a simulation. */
export const proposedPolicyId: Uuid = 'ffffffff-ffff-7fff-bfff-ffffffffffff'

type PresentedEntry = NonNullable<Decision['trace']>[number]

const sourceKinds: Readonly<Partial<Record<TraceSource['kind'], IdKind>>> = {
  policy: 'policy',
  grant: 'grant',
  mandate: 'mandate',
}

const presentSource = (source: TraceSource): PresentedEntry['source'] => {
  const kind = sourceKinds[source.kind]
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
  ...(entry.eligibleApprovers !== undefined && { eligible_approvers: entry.eligibleApprovers }),
  ...(entry.approvalProof !== undefined && { approval_proof: entry.approvalProof }),
  ...(entry.decisive !== undefined && { decisive: entry.decisive }),
})

/** As many rules as a person reads: a payment's answer does not grow with the policies of its workspace. */
const maxRules = 50

const presentRemedy = (remedy: Remedy): NonNullable<Decision['remedy']> => ({
  max_amount_minor: minor(remedy.maxAmountMinor),
  changes_count: remedy.changes.length,
  changes: remedy.changes.slice(0, maxRules).map((change) => ({
    source: presentSource(change.source),
    rule: change.rule,
    ...(change.toMinor !== undefined && { to_minor: formatMinor(change.toMinor) }),
  })),
  passes_at: remedy.passesAt ? isoTime(remedy.passesAt) : null,
})

const room = ({ limitMinor, usedMinor, requestedMinor }: TraceEntry): bigint | null =>
  limitMinor === undefined ? null : limitMinor - (usedMinor ?? 0n) - (requestedMinor ?? 0n)

/** Rules that decided, then those with a limit, the nearest first. */
const byWeight = (a: TraceEntry, b: TraceEntry): number => {
  if ((a.decisive ?? false) !== (b.decisive ?? false)) return a.decisive ? -1 : 1
  const [roomOfA, roomOfB] = [room(a), room(b)]
  if (roomOfA === null || roomOfB === null) return Number(roomOfA === null) - Number(roomOfB === null)
  return roomOfA < roomOfB ? -1 : roomOfA > roomOfB ? 1 : 0
}

/** In the order of their evaluation. */
const weightiest = (trace: readonly TraceEntry[]): readonly TraceEntry[] => {
  if (trace.length <= maxRules) return trace
  const kept = new Set(trace.toSorted(byWeight).slice(0, maxRules))
  return trace.filter((entry) => kept.has(entry))
}

/** A decision without its trace, as lists and events have it. */
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
    default:
      return { code: warning.code, by: presentMaker(warning.by), at: isoTime(warning.at) }
  }
}

export const presentDecision = (decision: Decided, currency: string): Decision => ({
  outcome: decision.outcome,
  explanation: explain(decision, currency),
  required_approvals: decision.requiredApprovals,
  separation_of_duties: decision.separationOfDuties,
  approval_proof: decision.approvalProof,
  approvals_by_mandate: decision.approvalsByMandate,
  policy_versions: decision.policyVersions
    .filter(({ id }) => id !== proposedPolicyId)
    .map(({ id, version }) => ({ id: formatId('policy', id), version })),
  warnings: decision.warnings.map(presentWarning),
  rules_considered: decision.trace.length,
  trace: weightiest(decision.trace).map(presentEntry),
  ...(decision.remedy && { remedy: presentRemedy(decision.remedy) }),
})
