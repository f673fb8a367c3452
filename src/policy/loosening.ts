import type { Minor } from '../lib/money.ts'
import { approvalProofs, duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../lib/policy-answers.ts'
import { type PolicyField, type PolicyFields, policyFieldNames } from './fields.ts'

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

const approvalsOf = ({ requiredApprovalCount }: PolicyFields): number => Math.max(1, requiredApprovalCount)

const isLooser: { readonly [Field in PolicyField]: (before: PolicyFields, after: PolicyFields) => boolean } = {
  paymentTypes: (before, after) => selectsLess(before.paymentTypes, after.paymentTypes),
  beneficiaryIds: (before, after) => selectsLess(before.beneficiaryIds, after.beneficiaryIds),
  perPaymentLimitMinor: (before, after) => isHigher(before.perPaymentLimitMinor, after.perPaymentLimitMinor),
  dailyLimitMinor: (before, after) => isHigher(before.dailyLimitMinor, after.dailyLimitMinor),
  monthlyLimitMinor: (before, after) => isHigher(before.monthlyLimitMinor, after.monthlyLimitMinor),
  totalLimitMinor: (before, after) => isHigher(before.totalLimitMinor, after.totalLimitMinor),
  approvalThresholdMinor: (before, after) => isHigher(asksFrom(before), asksFrom(after)),
  requiredApprovalCount: (before, after) => approvalsOf(after) < approvalsOf(before),
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
  policyFieldNames.some((field) => isLooser[field](before, after))
