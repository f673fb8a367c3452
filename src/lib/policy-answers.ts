// Closed lists, each ordered from lenient to strict, used by the service, its tables and the dashboard's forms.

/** The strictest outcome of all rules applies. */
export const outcomes = ['allow', 'require_approval', 'deny'] as const
export type Outcome = (typeof outcomes)[number]

/** `signature`: with a passkey or a wallet. */
export const approvalProofs = ['any', 'signature'] as const
export type ApprovalProof = (typeof approvalProofs)[number]

export const strictestProof = (proofs: readonly ApprovalProof[]): ApprovalProof =>
  proofs.includes('signature') ? 'signature' : 'any'

/** Possible answers to a payment that resembles an earlier one. `confirm`: the request must name the earlier payment. */
export const duplicateAnswers = ['warn', 'confirm', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]

/** Source name of a rule that the request itself sets. Its source kind is policy, although it is not one. */
export const ofRequest = 'on_duplicate of the request'

/** Possible answers to a payee that a key or agent created or renamed and that no person has confirmed. */
export const newPayeeAnswers = ['allow', 'require_approval', 'deny'] as const
export type NewPayeeAnswer = (typeof newPayeeAnswers)[number]

/** Possible answers to a payee whose name the rail has not confirmed. */
export const payeeVerificationAnswers = ['off', 'warn', 'require_approval', 'deny'] as const
export type PayeeVerificationAnswer = (typeof payeeVerificationAnswers)[number]

export type RuleAnswer = DuplicateAnswer | NewPayeeAnswer | PayeeVerificationAnswer
