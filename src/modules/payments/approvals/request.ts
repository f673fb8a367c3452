import { randomBytes } from 'node:crypto'
import { grantBehind } from '../../../auth/credential.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Vault } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { personNameSql } from '../../../db/person-name.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { appendEvents } from '../../../events/append.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { hasAccounts } from '../../../lib/rail-names.ts'
import { warningText } from '../../../policy/explain.ts'
import type { Decision } from '../../../policy/types.ts'
import { destinationContext } from '../../beneficiaries/destination-context.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import type { PaymentMandate } from '../../mandates/for-payments.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Deciding } from '../request.ts'
import { approvalMessage, type BatchLine, batchApprovalMessage } from './message.ts'
import { approvalEvent } from './present.ts'
import { type ApprovalRow, findApproval, isFirstPayment } from './queries.ts'
import { awaitedUntil } from './renew.ts'

/** The requester and the workspace, as the text that is signed names them. */
type RequestedBy = { requester: string; workspace: string }

type Row = { workspace: string; person: string | null; label: string | null }

/** Anyone with an approval's id may read its text without signing in. */
const names = `
  select w.name as workspace, g.label, ${personNameSql('$2')} as person
  from workspaces w left join grants g on g.id = $3 where w.id = $1`

const readRequestedBy = async (
  db: Db,
  payment: { workspaceId: Uuid; initiatorAccountId: Uuid; grantId: Uuid | null },
): Promise<RequestedBy> => {
  const [row] = await db.query<Row>(names, [payment.workspaceId, payment.initiatorAccountId, payment.grantId])
  if (!row) throw new Error('a payment has a workspace and an initiator')
  const person = row.person ?? 'a member of the workspace'
  return { workspace: row.workspace, requester: row.label === null ? person : `${row.label}, an agent of ${person}` }
}

/** At a paybill the reference is the account that is paid, as much as the number. */
const digestText = (nonce: string, destination: string, { rail, accountReference }: PaymentRecord): string =>
  [nonce, destination, ...(hasAccounts(rail) && accountReference ? [accountReference] : [])].join(':')

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
    | 'id'
    | 'batchId'
    | 'initiatingGrantId'
    | 'beneficiaryName'
    | 'nameAwaitedUntil'
    | 'approveMessage'
    | 'rejectMessage'
    | 'expiresAt'
  > & {
    /** The mandate's signer, who has approved in advance. */
    mandateSignature: PaymentMandate['signature'] | null
  }

const insert = async (tx: Tx, payment: PaymentRecord, { mandateSignature, ...approval }: NewApproval): Promise<void> => {
  const { at } = tx
  const { accountId, workspaceId } = payment
  const asked = { paymentId: payment.id, status: 'pending', createdAt: at, updatedAt: at, noticeDueAt: at } as const
  insertRow(tx, approvals, { ...approval, accountId, workspaceId, ...asked })
  if (mandateSignature)
    insertRow(tx, approvalDecisions, {
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
  await appendEvents(tx, [approvalEvent('approval.requested', record)])
}

const scheduledFor = ({ status, executeAt }: PaymentRecord): Date | null => (status === 'scheduled' ? executeAt : null)

/** What is scheduled can be approved until it is due. */
const expiryOf = (payment: PaymentRecord, at: Date, config: Config): Date =>
  scheduledFor(payment) ?? secondsAfter(at, config.APPROVAL_TTL_HOURS * 3600)

/** The payee with its full destination, of which only the digest is used. */
const payeeOf = async (tx: Tx, vault: Vault, { workspaceId, beneficiaryId }: PaymentRecord) => {
  const record = await findBeneficiary(tx, workspaceId, beneficiaryId)
  if (!record) throw new Error('a held payment has a beneficiary')
  const sealed = { ciphertext: record.destinationCiphertext, keyId: record.destinationKeyId }
  return { ...record, destination: vault.open(sealed, destinationContext(record.id, record.workspaceId)) }
}

export type ToApprove = { payment: PaymentRecord; decision: Decision; mandate: PaymentMandate | null }

/** Creates the approval that a decision needs, in the transaction that decided. */
export const requestApproval = async (
  tx: Tx,
  deps: Deciding,
  { payment, decision, mandate }: ToApprove,
  initiatingGrantId: Uuid | null,
): Promise<void> => {
  const { approvalId } = payment
  if (!approvalId) throw new Error('a held payment has an approval')
  const [payee, requestedBy, isFirst] = await Promise.all([
    payeeOf(tx, deps.vault, payment),
    readRequestedBy(tx, payment),
    isFirstPayment(tx, payment.id),
  ])
  const nonce = randomBytes(16).toString('hex')
  const expiresAt = expiryOf(payment, tx.at, deps.config)
  const facts = {
    domain: new URL(deps.config.publicUrl).host,
    approvalId,
    paymentId: payment.id,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    beneficiaryName: payee.displayName,
    rail: payment.rail,
    destinationMask: payee.destinationMask,
    reportedName: payee.reportedName,
    nameSource: payee.nameSource,
    verification: payee.verification,
    isBeingChecked: isBeingChecked(deps.rails, payee),
    warnings: [
      ...decision.warnings.map((warning) => warningText(warning, payment.currency)),
      ...(isFirst ? ['Nothing was paid to this destination before.'] : []),
    ],
    destinationDigest: deps.derivations.mac('destination-digest', digestText(nonce, payee.destination, payment)).toString('hex'),
    accountReference: payment.accountReference,
    narrative: payment.narrative,
    ...requestedBy,
    policyVersions: decision.policyVersions,
    nonce,
    executeAt: scheduledFor(payment),
    expiresAt,
  }
  await insert(tx, payment, {
    id: approvalId,
    batchId: null,
    ...asked(decision),
    initiatingGrantId,
    beneficiaryName: payee.displayName,
    nameAwaitedUntil: facts.isBeingChecked ? awaitedUntil(tx.at) : null,
    approveMessage: approvalMessage('approve', facts),
    rejectMessage: approvalMessage('reject', facts),
    expiresAt,
    mandateSignature: decision.approvalsByMandate > 0 && mandate ? mandate.signature : null,
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
  config: Config,
  { principal, approvalId, batch, payment, needs, nonce, lines }: BatchApprovalRequest,
): Promise<void> => {
  const [requestedBy, initiatingGrantId] = await Promise.all([
    readRequestedBy(tx, payment),
    grantBehind(tx, principal.credential, payment.grantId),
  ])
  const expiresAt = expiryOf(payment, tx.at, config)
  const { currency, merkleRoot, name } = batch
  const facts = {
    domain: new URL(config.publicUrl).host,
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
  await insert(tx, payment, {
    id: approvalId,
    batchId: batch.id,
    ...needs,
    initiatingGrantId,
    beneficiaryName: lines[0]?.payeeName ?? '',
    nameAwaitedUntil: lines.some((line) => line.isBeingChecked) ? awaitedUntil(tx.at) : null,
    approveMessage: batchApprovalMessage('approve', facts),
    rejectMessage: batchApprovalMessage('reject', facts),
    expiresAt,
    mandateSignature: null,
  })
}
