/** What an approval must be given with: anything that may decide, or only what its giver signs (a passkey or a wallet); from mild to strict. */
export const approvalProofs = ['any', 'signature'] as const
export type ApprovalProof = (typeof approvalProofs)[number]

export const strictestProof = (proofs: readonly ApprovalProof[]): ApprovalProof =>
  proofs.includes('signature') ? 'signature' : 'any'
