import type { Finding } from './finding.ts'
import type { Evaluation, PolicyRules, TraceSource, Warning } from './types.ts'

const looks = (policy: PolicyRules): boolean => policy.duplicateWindowSeconds !== null || policy.onDuplicate !== null

const windowOf = (input: Evaluation, policy: PolicyRules): number => policy.duplicateWindowSeconds ?? input.duplicateWindowSeconds

/** When the earlier payment is too old to matter; undefined when it already is, or there is none. */
const outOfWindow = ({ earlier, payment }: Evaluation, windowSeconds: number): Date | undefined => {
  if (!earlier) return undefined
  const end = new Date(earlier.createdAt.getTime() + windowSeconds * 1000)
  return payment.at < end ? end : undefined
}

/** The rule of one policy about a payment that looks like an earlier one. */
export const duplicateFindings = (policy: PolicyRules, source: TraceSource, input: Evaluation): Finding[] => {
  if (!looks(policy)) return []
  const rule = 'possible_duplicate'
  const resetsAt = outOfWindow(input, windowOf(input, policy))
  if (!resetsAt) return [{ kind: 'gate', source, rule, passes: true }]
  if (policy.onDuplicate !== 'require_approval')
    return [{ kind: 'gate', source, rule, passes: policy.onDuplicate !== 'deny', resetsAt }]
  return [{ kind: 'ask', source, rule, thresholdMinor: null, approvals: Math.max(1, policy.requiredApprovalCount), resetsAt }]
}

/**
 * Warns of the earlier payment within the widest window of the policies that have one, else within the deployment's. A warning never
 * changes the outcome.
 */
export const duplicateWarnings = (input: Evaluation, policies: readonly PolicyRules[]): Warning[] => {
  const windows = policies.filter(looks).map((policy) => windowOf(input, policy))
  const widest = windows.length > 0 ? Math.max(...windows) : input.duplicateWindowSeconds
  if (!input.earlier || !outOfWindow(input, widest)) return []
  return [{ code: 'possible_duplicate', ...input.earlier }]
}
