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
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import { destinationContext, findBeneficiary } from '../../beneficiaries/queries.ts'
import type { PaymentMandate } from '../../mandates/for-payments.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Deciding } from '../request.ts'
import { approvalMessage, type BatchLine, batchApprovalMessage, type CommonFacts } from './message.ts'
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

type Requested = Pick<ApprovalRow, 'batchId' | 'initiatingGrantId' | 'beneficiaryName'> & {
  /** Of a batch the first one, as it is in the table. */
  payment: PaymentRecord
  needs: Asked
  nonce: string
  isBeingChecked: boolean
  requestedBy: RequestedBy
  /** The mandate's signer, who has approved in advance. */
  mandateSignature: PaymentMandate['signature'] | null
  textOf: (choice: 'approve' | 'reject', facts: CommonFacts) => string
}

const request = async (tx: Tx, config: Config, requested: Requested): Promise<void> => {
  const { payment, needs, nonce, isBeingChecked, requestedBy, mandateSignature, textOf, ...row } = requested
  const { at } = tx
  const { approvalId: id, accountId, workspaceId, currency } = payment
  if (!id) throw new Error('a held payment has an approval')
  const executeAt = payment.status === 'scheduled' ? payment.executeAt : null
  // What is scheduled can be approved until it is due.
  const expiresAt = executeAt ?? secondsAfter(at, config.APPROVAL_TTL_HOURS * 3600)
  const domain = new URL(config.publicUrl).host
  const { policyVersions } = needs
  const facts = { domain, approvalId: id, currency, ...requestedBy, policyVersions, nonce, executeAt, expiresAt }
  insertRow(tx, approvals, {
    ...row,
    ...needs,
    ...{ id, accountId, workspaceId, paymentId: payment.id, expiresAt },
    status: 'pending',
    nameAwaitedUntil: isBeingChecked ? awaitedUntil(at) : null,
    approveMessage: textOf('approve', facts),
    rejectMessage: textOf('reject', facts),
    createdAt: at,
    updatedAt: at,
    noticeDueAt: at,
  })
  if (mandateSignature)
    insertRow(tx, approvalDecisions, {
      id: newId(),
      approvalId: id,
      owningAccountId: accountId,
      decision: 'approve',
      via: 'mandate',
      decidedAt: at,
      ...mandateSignature,
    })
  const record = await findApproval(tx, id)
  if (!record) throw new Error('an inserted approval cannot be read')
  await appendEvents(tx, [approvalEvent('approval.requested', record)])
}

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
  const [payee, requestedBy, isFirst] = await Promise.all([
    payeeOf(tx, deps.vault, payment),
    readRequestedBy(tx, payment),
    isFirstPayment(tx, payment.id),
  ])
  const nonce = randomBytes(16).toString('hex')
  const facts = {
    ...payee,
    ...payment,
    paymentId: payment.id,
    beneficiaryName: payee.displayName,
    isBeingChecked: isBeingChecked(deps.rails, payee),
    warnings: [
      ...decision.warnings.map((warning) => warningText(warning, payment.currency)),
      ...(isFirst ? ['Nothing was paid to this destination before.'] : []),
    ],
    destinationDigest: deps.derivations.mac('destination-digest', digestText(nonce, payee.destination, payment)).toString('hex'),
  }
  await request(tx, deps.config, {
    payment,
    batchId: null,
    initiatingGrantId,
    needs: asked(decision),
    nonce,
    requestedBy,
    beneficiaryName: facts.beneficiaryName,
    isBeingChecked: facts.isBeingChecked,
    mandateSignature: decision.approvalsByMandate > 0 && mandate ? mandate.signature : null,
    textOf: (choice, common) => approvalMessage(choice, { ...facts, ...common }),
  })
}

type BatchApproval = { principal: Principal; batch: BatchRow; lines: readonly BatchLine[] } & Pick<
  Requested,
  'payment' | 'needs' | 'nonce'
>

/** Creates the one approval of a batch, in the transaction that decided its items. The batch and its payments are written already. */
export const requestBatchApproval = async (
  tx: Tx,
  config: Config,
  { principal, batch, lines, ...requested }: BatchApproval,
): Promise<void> => {
  const { payment } = requested
  const [requestedBy, initiatingGrantId] = await Promise.all([
    readRequestedBy(tx, payment),
    grantBehind(tx, principal.credential, payment.grantId),
  ])
  await request(tx, config, {
    ...requested,
    batchId: batch.id,
    initiatingGrantId,
    requestedBy,
    beneficiaryName: lines[0]?.payeeName ?? '',
    isBeingChecked: lines.some((line) => line.isBeingChecked),
    mandateSignature: null,
    textOf: (choice, common) => batchApprovalMessage(choice, { ...batch, batchId: batch.id, lines, ...common }),
  })
}
