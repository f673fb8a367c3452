import type { ApprovalProof } from '../lib/policy-answers.ts'
import { mandateSource } from './mandate-findings.ts'
import type { Evaluation, TraceEntry } from './types.ts'

/** Whether the mandate's signer may approve this payment: this is what a fitting mandate gives. */
export const signerMayApprove = ({ mandate, payment, approvers }: Evaluation, separationOfDuties: boolean): boolean =>
  mandate !== null &&
  approvers.eligibleAccountIds.includes(mandate.signerAccountId) &&
  !(separationOfDuties && mandate.signerAccountId === payment.initiatorAccountId)

type Quorum = {
  required: number
  byMandate: number
  separationOfDuties: boolean
  proof: ApprovalProof
  signerMayApprove: boolean
}

/**
 * The last entries of the trace, when approvals are needed: whether the signer may approve, and whether enough people can give the rest.
 */
export const quorumEntries = ({ mandate, payment, approvers }: Evaluation, quorum: Quorum): TraceEntry[] => {
  if (quorum.required === 0) return []
  const able = new Set(quorum.proof === 'signature' ? approvers.signingAccountIds : approvers.eligibleAccountIds)
  // A payment by an API key or an agent counts as its account's, and the signer has already counted once.
  if (quorum.separationOfDuties) able.delete(payment.initiatorAccountId)
  if (mandate && quorum.byMandate > 0) able.delete(mandate.signerAccountId)
  const needed = quorum.required - quorum.byMandate
  const entries: TraceEntry[] = []
  if (mandate)
    entries.push({
      source: mandateSource(mandate),
      rule: 'mandate_signer',
      outcome: quorum.signerMayApprove ? 'allow' : 'require_approval',
    })
  entries.push({
    source: { kind: 'policy', id: null, name: null },
    rule: 'eligible_approvers',
    outcome: needed > able.size ? 'deny' : 'allow',
    requiredApprovals: needed,
    eligibleApprovers: able.size,
    ...(quorum.proof === 'signature' && { approvalProof: quorum.proof }),
  })
  return entries
}
