import { randomBytes } from 'node:crypto'
import { grantBehind } from '../../../auth/begun-by.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { prepareInsert } from '../../../db/prepare-write.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { hasAccounts } from '../../../lib/rail-names.ts'
import type { Decision } from '../../../policy/types.ts'
import { warningText } from '../../../policy/warning-words.ts'
import type { BeneficiaryRecord } from '../../beneficiaries/queries.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRecord } from '../queries.ts'
import { type BatchLine, batchApprovalMessage } from './batch-message.ts'
import { approvalMessage } from './message.ts'
import { readRequestedBy } from './names.ts'
import { presentApproval } from './present.ts'
import { type ApprovalRow, findApproval } from './queries.ts'

const insertApproval = prepareInsert('approvals.insert', approvals)
const insertSigned = prepareInsert('approvals.insert_signed', approvalDecisions)

export type ApprovalRequest = {
  /** The grant that the request came from: its own, or the one behind its session. */
  initiatingGrantId: Uuid | null
  approvalId: Uuid
  payment: PaymentRecord
  decision: Decision
  beneficiary: Pick<BeneficiaryRecord, 'displayName' | 'destinationMask' | 'reportedName' | 'verification'>
  /** The full destination; only its digest is used. */
  destination: string
  /** The mandate's signer, who has approved in advance. */
  mandateSignature: { accountId: Uuid; signer: string; signature: string; message: string } | null
}

/** At a paybill the reference is the account that is paid, as much as the number. */
const digestText = (nonce: string, { destination, payment }: Pick<ApprovalRequest, 'destination' | 'payment'>): string =>
  [nonce, destination, ...(hasAccounts(payment.rail) && payment.accountReference ? [payment.accountReference] : [])].join(':')

/** What an approval asks for. */
export type Asked = Pick<ApprovalRow, 'requiredApprovals' | 'separationOfDuties' | 'approvalProof' | 'policyVersions'>

export const asked = ({ requiredApprovals, separationOfDuties, approvalProof, policyVersions }: Decision): Asked => ({
  requiredApprovals,
  separationOfDuties,
  approvalProof,
  policyVersions: [...policyVersions],
})

type NewApproval = Asked &
  Pick<
    ApprovalRow,
    'id' | 'batchId' | 'initiatingGrantId' | 'beneficiaryName' | 'approveMessage' | 'rejectMessage' | 'expiresAt'
  > &
  Pick<ApprovalRequest, 'mandateSignature'>

const insert = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  payment: PaymentRecord,
  { mandateSignature, ...approval }: NewApproval,
): Promise<void> => {
  const { at } = tx
  const { accountId, workspaceId } = payment
  const asked = { paymentId: payment.id, status: 'pending', createdAt: at, updatedAt: at } as const
  insertApproval(tx, { ...approval, accountId, workspaceId, ...asked })
  if (mandateSignature)
    insertSigned(tx, {
      id: newId(),
      approvalId: approval.id,
      owningAccountId: accountId,
      decision: 'approve',
      via: 'mandate',
      decidedAt: at,
      ...mandateSignature,
    })
  const record = await findApproval(tx, approval.id)
  if (!record) throw new Error('an inserted approval cannot be read')
  await deps.appendEvents(tx, at, [{ type: 'approval.requested', accountId, workspaceId, data: presentApproval(record) }])
}

const scheduledFor = ({ status, executeAt }: PaymentRecord): Date | null => (status === 'scheduled' ? executeAt : null)

/** What is scheduled can be approved until it is due. */
const expiryOf = (payment: PaymentRecord, at: Date, { config }: Pick<Deps, 'config'>): Date =>
  scheduledFor(payment) ?? secondsAfter(at, config.APPROVAL_TTL_HOURS * 3600)

/** Creates the approval that a decision needs, in the transaction that decided. */
export const requestApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config' | 'derivations'>,
  request: ApprovalRequest,
): Promise<void> => {
  const { at } = tx
  const { initiatingGrantId, payment, decision, approvalId } = request
  const requestedBy = await readRequestedBy(tx, payment)
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = expiryOf(payment, at, deps)
  const facts = {
    domain: new URL(deps.config.publicUrl).host,
    approvalId,
    paymentId: payment.id,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    beneficiaryName: request.beneficiary.displayName,
    rail: payment.rail,
    destinationMask: request.beneficiary.destinationMask,
    reportedName: request.beneficiary.reportedName,
    verification: request.beneficiary.verification,
    warnings: decision.warnings.map((warning) => warningText(warning, payment.currency)),
    destinationDigest: deps.derivations.mac('destination-digest', digestText(nonce, request)).toString('hex'),
    accountReference: payment.accountReference,
    narrative: payment.narrative,
    ...requestedBy,
    policyVersions: decision.policyVersions,
    nonce,
    executeAt: scheduledFor(payment),
    expiresAt,
  }
  await insert(tx, deps, payment, {
    id: approvalId,
    batchId: null,
    ...asked(decision),
    initiatingGrantId,
    beneficiaryName: request.beneficiary.displayName,
    approveMessage: approvalMessage('approve', facts),
    rejectMessage: approvalMessage('reject', facts),
    expiresAt,
    mandateSignature: request.mandateSignature,
  })
}

export type BatchApprovalRequest = {
  principal: Principal
  approvalId: Uuid
  batch: BatchRow
  /** The first item, as it is in the table. */
  payment: PaymentRecord
  needs: Asked
  nonce: string
  lines: readonly BatchLine[]
}

/** Creates the one approval of a batch, in the transaction that decided its items. The batch and its payments are written already. */
export const requestBatchApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  { principal, approvalId, batch, payment, needs, nonce, lines }: BatchApprovalRequest,
): Promise<void> => {
  const [requestedBy, initiatingGrantId] = await Promise.all([
    readRequestedBy(tx, payment),
    grantBehind(tx, principal.credential, payment.grantId),
  ])
  const expiresAt = expiryOf(payment, tx.at, deps)
  const { currency, merkleRoot, name } = batch
  const facts = {
    domain: new URL(deps.config.publicUrl).host,
    approvalId,
    batchId: batch.id,
    currency,
    merkleRoot,
    name,
    lines,
    ...requestedBy,
    policyVersions: needs.policyVersions,
    nonce,
    executeAt: batch.executeAt,
    expiresAt,
  }
  await insert(tx, deps, payment, {
    id: approvalId,
    batchId: batch.id,
    ...needs,
    initiatingGrantId,
    beneficiaryName: lines[0]?.payeeName ?? '',
    approveMessage: batchApprovalMessage('approve', facts),
    rejectMessage: batchApprovalMessage('reject', facts),
    expiresAt,
    mandateSignature: null,
  })
}
