// Closed lists, each from mild to strict. The service, its tables and the dashboard's forms read them here.

/** The strictest of all the rules decides. */
export const outcomes = ['allow', 'require_approval', 'deny'] as const
export type Outcome = (typeof outcomes)[number]

/** `signature`: by a passkey or a wallet. */
export const approvalProofs = ['any', 'signature'] as const
export type ApprovalProof = (typeof approvalProofs)[number]

export const strictestProof = (proofs: readonly ApprovalProof[]): ApprovalProof =>
  proofs.includes('signature') ? 'signature' : 'any'

/** For a payment that looks like an earlier one. `confirm`: it must name that one. */
export const duplicateAnswers = ['warn', 'confirm', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]

/** The name of the source of what a request asks for itself. It is no policy, though its kind says so. */
export const ofRequest = 'on_duplicate of the request'

/** For a payee that a key or an agent created or renamed, and no person has confirmed. */
export const newPayeeAnswers = ['allow', 'require_approval', 'deny'] as const
export type NewPayeeAnswer = (typeof newPayeeAnswers)[number]

/** For a payee whose name the rail has not confirmed. */
export const payeeVerificationAnswers = ['off', 'warn', 'require_approval', 'deny'] as const
export type PayeeVerificationAnswer = (typeof payeeVerificationAnswers)[number]
