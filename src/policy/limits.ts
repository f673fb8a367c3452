import type { FieldError } from '../lib/errors.ts'
import { formatMinor, type Minor } from '../lib/money.ts'
import { approvalProofs, duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../lib/policy-answers.ts'
import { type PolicyField, type PolicyFields, policyFieldNames } from './fields.ts'
import type { Limits, Usage } from './types.ts'

const atMost = (path: string, smaller: Minor | null, than: string, larger: Minor | null): FieldError[] =>
  smaller !== null && larger !== null && smaller > larger ? [{ path, message: `must not be more than ${than}` }] : []

/** `under`: prefix of the rules' paths. A threshold above the limits is allowed: it applies once they are raised. */
export const contradictions = (
  rules: Omit<Limits, 'totalLimitMinor'> & { requiredApprovalCount?: number },
  under = '',
): FieldError[] => {
  const { perPaymentLimitMinor: perPayment, dailyLimitMinor: daily, monthlyLimitMinor: monthly } = rules
  const problems = [
    ...atMost(`${under}per_payment_limit_minor`, perPayment, 'daily_limit_minor', daily),
    ...atMost(`${under}daily_limit_minor`, daily, 'monthly_limit_minor', monthly),
    // If there is a daily limit between them, one of the pairs above covers this.
    ...(daily === null ? atMost(`${under}per_payment_limit_minor`, perPayment, 'monthly_limit_minor', monthly) : []),
  ]
  if (rules.approvalThresholdMinor !== null && rules.requiredApprovalCount === 0)
    problems.push({ path: `${under}required_approval_count`, message: 'must be at least 1 when approval_threshold_minor is set' })
  return problems
}

type Controls = Omit<Limits, 'totalLimitMinor'> & {
  paymentTypes: readonly string[] | null
  beneficiaryIds: readonly string[] | null
}

/** For spending controls of a grant, whose lists are allow lists: an empty one would allow nothing. */
export const controlContradictions = (controls: Controls, under = ''): FieldError[] => {
  const message = 'must name at least one, or be left out to allow all'
  return [
    ...contradictions(controls, under),
    ...(controls.paymentTypes?.length === 0 ? [{ path: `${under}payment_types`, message }] : []),
    ...(controls.beneficiaryIds?.length === 0 ? [{ path: `${under}beneficiary_ids`, message }] : []),
  ]
}

export const presentUsage = ({ dayMinor, monthMinor, totalMinor }: Usage) => ({
  today_minor: formatMinor(dayMinor),
  month_minor: formatMinor(monthMinor),
  total_minor: formatMinor(totalMinor),
})

export type Headroom = {
  perPaymentMinor: Minor | null
  todayMinor: Minor | null
  monthMinor: Minor | null
  totalMinor: Minor | null
}

/** The smallest amount; null without a limit. Never below 0, although usage may exceed a lowered limit. */
const least = (amounts: readonly (Minor | null)[]): Minor | null => {
  const [smallest] = amounts.filter((amount) => amount !== null).sort((a, b) => (a < b ? -1 : 1))
  return smallest === undefined ? null : smallest < 0n ? 0n : smallest
}

const leaves = (limit: Minor | null, used: Minor): Minor | null => (limit === null ? null : limit - used)

export const headroomOf = (limits: readonly (Omit<Limits, 'approvalThresholdMinor'> & { usage: Usage })[]): Headroom => ({
  perPaymentMinor: least(limits.map((limit) => limit.perPaymentLimitMinor)),
  todayMinor: least(limits.map((limit) => leaves(limit.dailyLimitMinor, limit.usage.dayMinor))),
  monthMinor: least(limits.map((limit) => leaves(limit.monthlyLimitMinor, limit.usage.monthMinor))),
  totalMinor: least(limits.map((limit) => leaves(limit.totalLimitMinor, limit.usage.totalMinor))),
})

export const approvalFrom = (limits: readonly Pick<Limits, 'approvalThresholdMinor'>[]): Minor | null =>
  least(limits.map((limit) => limit.approvalThresholdMinor))

/** Whether a limit is higher than before. Null: no limit. */
export const isHigher = (before: Minor | null, after: Minor | null): boolean =>
  before !== null && (after === null || after > before)

/** Whether an answer became milder. `from`: the answers from mild to strict. `silent`: the meaning of null. */
export const isMilder = <Answer>(from: readonly Answer[], before: Answer | null, after: Answer | null, silent: Answer): boolean =>
  from.indexOf(after ?? silent) < from.indexOf(before ?? silent)

/** An empty list selects everything. */
const selectsLess = (before: readonly string[], after: readonly string[]): boolean =>
  after.length > 0 && (before.length === 0 || before.some((item) => !after.includes(item)))

/** The amount from which a policy asks for approval; null: never. */
const asksFrom = ({ approvalThresholdMinor, requiredApprovalCount }: PolicyFields): Minor | null =>
  approvalThresholdMinor ?? (requiredApprovalCount > 0 ? 0n : null)

const count = ({ requiredApprovalCount }: PolicyFields): number => Math.max(1, requiredApprovalCount)

const loosened: { readonly [Field in PolicyField]: (before: PolicyFields, after: PolicyFields) => boolean } = {
  paymentTypes: (before, after) => selectsLess(before.paymentTypes, after.paymentTypes),
  beneficiaryIds: (before, after) => selectsLess(before.beneficiaryIds, after.beneficiaryIds),
  perPaymentLimitMinor: (before, after) => isHigher(before.perPaymentLimitMinor, after.perPaymentLimitMinor),
  dailyLimitMinor: (before, after) => isHigher(before.dailyLimitMinor, after.dailyLimitMinor),
  monthlyLimitMinor: (before, after) => isHigher(before.monthlyLimitMinor, after.monthlyLimitMinor),
  totalLimitMinor: (before, after) => isHigher(before.totalLimitMinor, after.totalLimitMinor),
  approvalThresholdMinor: (before, after) => isHigher(asksFrom(before), asksFrom(after)),
  requiredApprovalCount: (before, after) => count(after) < count(before),
  separationOfDuties: (before, after) => before.separationOfDuties && !after.separationOfDuties,
  approvalProof: (before, after) => isMilder(approvalProofs, before.approvalProof, after.approvalProof, 'any'),
  approverIds: ({ approverIds: before }, { approverIds: after }) =>
    before !== null && (after === null || after.some((id) => !before.includes(id))),
  // Null means the service's own window, which may be shorter or longer than an explicit one.
  duplicateWindowSeconds: (before, { duplicateWindowSeconds: now }) => {
    const { duplicateWindowSeconds: old, onDuplicate } = before
    return onDuplicate !== null && onDuplicate !== 'warn' && old !== now && (old === null || now === null || now < old)
  },
  onDuplicate: (before, after) => isMilder(duplicateAnswers, before.onDuplicate, after.onDuplicate, 'warn'),
  newPayees: (before, after) => isMilder(newPayeeAnswers, before.newPayees, after.newPayees, 'allow'),
  payeeVerification: (before, after) =>
    isMilder(payeeVerificationAnswers, before.payeeVerification, after.payeeVerification, 'warn'),
}

/** Whether the new rules may allow a payment that the old ones refused or held for approval. True if they are incomparable. */
export const loosens = (before: PolicyFields, after: PolicyFields): boolean =>
  policyFieldNames.some((field) => loosened[field](before, after))
