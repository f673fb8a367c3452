import { randomBytes } from 'node:crypto'
import { grantBehind } from '../../../auth/begun-by.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { hasAccounts } from '../../../lib/rail-names.ts'
import type { Decision } from '../../../policy/types.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRecord } from '../queries.ts'
import { approvalMessage } from './message.ts'
import { readRequestedBy } from './names.ts'
import { presentApproval } from './present.ts'
import { findApproval } from './queries.ts'

export type ApprovalRequest = {
  principal: Principal
  approvalId: Uuid
  payment: PaymentRecord
  decision: Decision
  beneficiary: { displayName: string; destinationMask: string }
  /** The full destination; only its digest is used. */
  destination: string
  /** The mandate's signer, who has approved in advance. */
  mandateSignature: { accountId: Uuid; signer: string; signature: string; message: string } | null
}

/** At a paybill the reference is the account that is paid, as much as the number. */
const digestText = (nonce: string, { destination, payment }: Pick<ApprovalRequest, 'destination' | 'payment'>): string =>
  [nonce, destination, ...(hasAccounts(payment.rail) && payment.accountReference ? [payment.accountReference] : [])].join(':')

/** Creates the approval that a decision needs, in the transaction that decided. */
export const requestApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config' | 'derivations'>,
  request: ApprovalRequest,
): Promise<void> => {
  const { at } = tx
  const { principal, payment, decision, approvalId } = request
  const [requestedBy, initiatingGrantId] = await Promise.all([
    readRequestedBy(tx, payment),
    grantBehind(tx, principal.credential, payment.grantId),
  ])
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = secondsAfter(at, deps.config.APPROVAL_TTL_HOURS * 3600)
  const facts = {
    domain: new URL(deps.config.publicUrl).host,
    approvalId,
    paymentId: payment.id,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    beneficiaryName: request.beneficiary.displayName,
    rail: payment.rail,
    destinationMask: request.beneficiary.destinationMask,
    destinationDigest: deps.derivations.mac('destination-digest', digestText(nonce, request)).toString('hex'),
    accountReference: payment.accountReference,
    narrative: payment.narrative,
    ...requestedBy,
    policyVersions: decision.policyVersions,
    nonce,
    expiresAt,
  }
  await tx.orm.insert(approvals).values({
    id: approvalId,
    workspaceId: payment.workspaceId,
    paymentId: payment.id,
    status: 'pending',
    requiredApprovals: decision.requiredApprovals,
    separationOfDuties: decision.separationOfDuties,
    initiatingGrantId,
    policyVersions: decision.policyVersions,
    beneficiaryName: request.beneficiary.displayName,
    approveMessage: approvalMessage('approve', facts),
    rejectMessage: approvalMessage('reject', facts),
    createdAt: at,
    updatedAt: at,
    expiresAt,
  })
  const mandateDecision = request.mandateSignature
  if (mandateDecision)
    await tx.orm
      .insert(approvalDecisions)
      .values({ id: newId(), approvalId, decision: 'approve', via: 'mandate', decidedAt: at, ...mandateDecision })
  const record = await findApproval(tx, approvalId)
  if (!record) throw new Error('an inserted approval cannot be read')
  const { accountId, workspaceId } = payment
  await deps.appendEvents(tx, at, [{ type: 'approval.requested', accountId, workspaceId, data: presentApproval(record) }])
}
