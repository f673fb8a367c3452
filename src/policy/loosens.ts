import type { Minor } from '../lib/money.ts'
import { approvalProofs, duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../lib/policy-answers.ts'
import { type PolicyField, type PolicyFields, policyFieldNames } from './fields.ts'

/** Whether a limit lets more pass than before. Null: there is none. */
export const isHigher = (before: Minor | null, after: Minor | null): boolean =>
  before !== null && (after === null || after > before)

/** Whether an answer of a list from mild to strict became milder. `silent`: the answer that null is as mild as. */
export const isMilder = <Answer>(from: readonly Answer[], before: Answer | null, after: Answer | null, silent: Answer): boolean =>
  from.indexOf(after ?? silent) < from.indexOf(before ?? silent)

/** Whether a list that selects what a rule applies to leaves out what it had. An empty list selects everything. */
const selectsLess = (before: readonly string[], after: readonly string[]): boolean =>
  after.length > 0 && (before.length === 0 || before.some((item) => !after.includes(item)))

/** From which amount on a policy asks for approval; null for never. */
const asksFrom = ({ approvalThresholdMinor, requiredApprovalCount }: PolicyFields): Minor | null =>
  approvalThresholdMinor ?? (requiredApprovalCount > 0 ? 0n : null)

const count = ({ requiredApprovalCount }: PolicyFields): number => Math.max(1, requiredApprovalCount)

/** How each field can let pass what it did not before. A field that is forgotten here does not compile. */
const loosened: { readonly [Field in PolicyField]: (before: PolicyFields, after: PolicyFields) => boolean } = {
  paymentTypes: (before, after) => selectsLess(before.paymentTypes, after.paymentTypes),
  beneficiaryIds: (before, after) => selectsLess(before.beneficiaryIds, after.beneficiaryIds),
  perPaymentLimitMinor: (before, after) => isHigher(before.perPaymentLimitMinor, after.perPaymentLimitMinor),
  dailyLimitMinor: (before, after) => isHigher(before.dailyLimitMinor, after.dailyLimitMinor),
  monthlyLimitMinor: (before, after) => isHigher(before.monthlyLimitMinor, after.monthlyLimitMinor),
  approvalThresholdMinor: (before, after) => isHigher(asksFrom(before), asksFrom(after)),
  requiredApprovalCount: (before, after) => count(after) < count(before),
  separationOfDuties: (before, after) => before.separationOfDuties && !after.separationOfDuties,
  approvalProof: (before, after) => isMilder(approvalProofs, before.approvalProof, after.approvalProof, 'any'),
  // The service's own window, which null stands for, may be shorter or longer than any that is named.
  duplicateWindowSeconds: (before, { duplicateWindowSeconds: now }) => {
    const { duplicateWindowSeconds: old, onDuplicate } = before
    return onDuplicate !== null && onDuplicate !== 'warn' && old !== now && (old === null || now === null || now < old)
  },
  onDuplicate: (before, after) => isMilder(duplicateAnswers, before.onDuplicate, after.onDuplicate, 'warn'),
  newPayees: (before, after) => isMilder(newPayeeAnswers, before.newPayees, after.newPayees, 'allow'),
  payeeVerification: (before, after) =>
    isMilder(payeeVerificationAnswers, before.payeeVerification, after.payeeVerification, 'warn'),
}

/** Whether a changed policy may let pass what it refused or asked about before. In doubt it does: two rules that cannot be compared. */
export const loosens = (before: PolicyFields, after: PolicyFields): boolean =>
  policyFieldNames.some((field) => loosened[field](before, after))
