// Closed lists, each from mild to strict, for the service, its tables and the dashboard's forms.

/** The strictest outcome of all rules decides. */
export const outcomes = ['allow', 'require_approval', 'deny'] as const
export type Outcome = (typeof outcomes)[number]

/** `signature`: a passkey's or a wallet's. */
export const approvalProofs = ['any', 'signature'] as const
export type ApprovalProof = (typeof approvalProofs)[number]

export const strictestProof = (proofs: readonly ApprovalProof[]): ApprovalProof =>
  proofs.includes('signature') ? 'signature' : 'any'

/** The answers to a payment that resembles an earlier one. `confirm`: the request must name the earlier payment. */
export const duplicateAnswers = ['warn', 'confirm', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]

/** The source name for a rule that the request itself set. Despite its kind, it is not a policy. */
export const ofRequest = 'on_duplicate of the request'

/** The answers to a payee that a key or an agent created or renamed, and no person has confirmed. */
export const newPayeeAnswers = ['allow', 'require_approval', 'deny'] as const
export type NewPayeeAnswer = (typeof newPayeeAnswers)[number]

/** The answers to a payee whose name the rail has not confirmed. */
export const payeeVerificationAnswers = ['off', 'warn', 'require_approval', 'deny'] as const
export type PayeeVerificationAnswer = (typeof payeeVerificationAnswers)[number]
