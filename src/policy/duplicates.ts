import type { DuplicateAnswer } from '../lib/policy-answers.ts'
import { ask, type Finding, gate } from './finding.ts'
import type { Decision, Evaluation, PolicyRules, TraceSource, Warning } from './types.ts'

const looks = (policy: PolicyRules): boolean => policy.duplicateWindowSeconds !== null || policy.onDuplicate !== null

const windowOf = (input: Evaluation, policy: PolicyRules): number => policy.duplicateWindowSeconds ?? input.duplicateWindowSeconds

/** When the earlier payment is too old to matter; undefined when it already is, or there is none. */
const outOfWindow = ({ earlier, payment }: Evaluation, windowSeconds: number): Date | undefined => {
  if (!earlier) return undefined
  const end = new Date(earlier.createdAt.getTime() + windowSeconds * 1000)
  return payment.at < end ? end : undefined
}

/** What one answer finds about a payment that looks like an earlier one. `resetsAt`: when the earlier one is too old to matter. */
const answered = (
  answer: DuplicateAnswer,
  source: TraceSource,
  { input, resetsAt, approvals }: { input: Evaluation; resetsAt: Date; approvals: number },
): Finding => {
  if (answer === 'require_approval') return { ...ask(source, 'possible_duplicate', approvals), resetsAt }
  if (answer === 'confirm') return { ...gate(source, 'unconfirmed_duplicate', input.duplicateIsIntended), resetsAt }
  return { ...gate(source, 'possible_duplicate', answer !== 'deny'), resetsAt }
}

/** The rule of one policy about a payment that looks like an earlier one. */
export const duplicateFindings = (policy: PolicyRules, source: TraceSource, input: Evaluation): Finding[] => {
  if (!looks(policy)) return []
  const resetsAt = outOfWindow(input, windowOf(input, policy))
  if (!resetsAt) return [gate(source, 'possible_duplicate', true)]
  const approvals = Math.max(1, policy.requiredApprovalCount)
  return [answered(policy.onDuplicate ?? 'warn', source, { input, resetsAt, approvals })]
}

/** The same rule of a grant, or of the request itself, within the deployment's window. */
export const duplicateFindingsOf = (answer: DuplicateAnswer | null, source: TraceSource, input: Evaluation): Finding[] => {
  const resetsAt = outOfWindow(input, input.duplicateWindowSeconds)
  return answer === null || !resetsAt ? [] : [answered(answer, source, { input, resetsAt, approvals: 1 })]
}

/** While it is not known whether the earlier payment moved money, a key or an agent does not repeat it: a person decides, on the day. */
export const unknownFindings = ({ earlier, payment }: Evaluation): Finding[] =>
  earlier?.isUnknown && payment.grantLineage.length > 0 ? [ask({ kind: 'rail', id: null, name: null }, 'earlier_unknown', 1)] : []

/** Nothing else stops the payment than that nobody has said that it is meant. */
export const onlyUnconfirmedDuplicate = ({ outcome, trace }: Pick<Decision, 'outcome' | 'trace'>): boolean =>
  outcome === 'deny' && trace.every((entry) => entry.outcome !== 'deny' || entry.rule === 'unconfirmed_duplicate')

/**
 * Warns of the earlier payment within the widest window of the policies that have one, else within the deployment's. A warning never
 * changes the outcome.
 */
export const duplicateWarnings = (input: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const asked = input.onDuplicate === null ? [] : [input.duplicateWindowSeconds]
  const windows = [...policies.filter(looks).map((policy) => windowOf(input, policy)), ...asked]
  const widest = windows.length > 0 ? Math.max(...windows) : input.duplicateWindowSeconds
  if (!input.earlier || !(outOfWindow(input, widest) || input.earlier.isUnknown)) return []
  const { paymentId, createdAt, listIndex } = input.earlier
  return [{ code: 'possible_duplicate', paymentId, createdAt, ...(listIndex !== undefined && { listIndex }) }]
}
