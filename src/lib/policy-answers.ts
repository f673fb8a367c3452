// What a policy may answer with: closed lists, each from mild to strict. The service, its tables and the dashboard's forms read them here.

/** What a rule, and the decision, says of a payment; the strictest of all the rules decides. */
export const outcomes = ['allow', 'require_approval', 'deny'] as const
export type Outcome = (typeof outcomes)[number]

/** What an approval must be given with: anything that may decide, or only what its giver signs (a passkey or a wallet); from mild to strict. */
export const approvalProofs = ['any', 'signature'] as const
export type ApprovalProof = (typeof approvalProofs)[number]

export const strictestProof = (proofs: readonly ApprovalProof[]): ApprovalProof =>
  proofs.includes('signature') ? 'signature' : 'any'

/** What a payment gets that looks like an earlier one, from mild to strict. `confirm`: it must name the earlier one, to say that it is meant. */
export const duplicateAnswers = ['warn', 'confirm', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]

/** What a payment gets whose payee a key or an agent created or renamed, and no person has confirmed; from mild to strict. */
export const newPayeeAnswers = ['allow', 'require_approval', 'deny'] as const
export type NewPayeeAnswer = (typeof newPayeeAnswers)[number]

/** What a payment gets whose payee's name the rail has not confirmed, from mild to strict. */
export const payeeVerificationAnswers = ['off', 'warn', 'require_approval', 'deny'] as const
export type PayeeVerificationAnswer = (typeof payeeVerificationAnswers)[number]
