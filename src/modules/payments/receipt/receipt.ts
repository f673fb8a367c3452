import type { Db } from '../../../db/client.ts'
import type { Prepared } from '../../../db/prepare.ts'
import { type LogHead, proveRows, type RowProof, readLogHead } from '../../../events/seal-proof.ts'
import { listTransfers, type TransferRecord } from '../../../ledger/reports.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId, parseId, type Uuid } from '../../../lib/ids.ts'
import { inclusionPath, leafHash, treeOf } from '../../../lib/merkle.ts'
import { formatMinor } from '../../../lib/money.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import type { MandateRow } from '../../mandates/queries.ts'
import type { Parts } from '../../parts.ts'
import type { Decision } from '../../policies/schema.ts'
import { presentProof, signDocument, signHead } from '../../proof/service.ts'
import { type ApprovalRow, type DecisionRow, decisionsOf } from '../approvals/queries.ts'
import { presentPayment } from '../present.ts'
import { findPayment } from '../queries.ts'
import { auditOf, findApprovalRow, findMandateRow, leavesOf, readPolicyVersions } from './queries.ts'
import type { Receipt } from './schema.ts'

type Body = Omit<Receipt, 'jws'>
type ReceiptParts = Pick<Parts, 'clock' | 'config' | 'receiptKeys'>

type Rows<Q> = Q extends Prepared<infer _, infer Row> ? readonly Row[] : never

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const inputsIn = (row: Rows<typeof auditOf>[number]): Record<string, unknown> => ({ ...Object(row.inputs) })

const inputsOf = (rows: Rows<typeof auditOf>): Body['decision_inputs'] => {
  const row = rows.find(({ action }) => action === 'payment.create')
  return row && isRecord(row.inputs) ? inputsIn(row) : null
}

const presentAudit = (
  deps: ReceiptParts,
  head: LogHead | null,
  rows: Rows<typeof auditOf>,
  proofs: readonly (RowProof | null)[],
): Body['audit'] => ({
  head: signHead(deps.config, deps.receiptKeys, head),
  rows: rows.map(({ id, action, at }, index) => {
    const proof = proofs[index]
    return { id: formatId('audit', id), action, at: isoTime(at), proof: proof ? presentProof(proof) : null }
  }),
})

const presentApproval = (approval: ApprovalRow, decisions: readonly DecisionRow[]): NonNullable<Body['approval']> => ({
  id: formatId('approval', approval.id),
  status: approval.status,
  required_approvals: approval.requiredApprovals,
  separation_of_duties: approval.separationOfDuties,
  approval_proof: approval.approvalProof,
  messages: { approve: approval.approveMessage, reject: approval.rejectMessage },
  decisions: decisions.map((decision) => ({
    account_id: formatId('account', decision.accountId),
    decision: decision.decision,
    via: decision.via,
    reason: decision.reason,
    signer: decision.signer,
    signature: decision.signature,
    message: decision.message,
    passkey: decision.passkeyProof,
    decided_at: isoTime(decision.decidedAt),
    voided_at: isoTimeOrNull(decision.voidedAt),
  })),
})

/** The item's place in its batch, proven under the root that the batch's approval names. */
const presentBatch = (rows: Rows<typeof leavesOf>, index: number | null): Body['batch'] => {
  const [row] = rows
  const leaf = index === null ? undefined : rows[index]?.leaf
  if (!row || index === null || !leaf) return null
  const tree = treeOf(rows.map((each) => leafHash(each.leaf ?? '')))
  const path = inclusionPath(index, rows.length, tree).map((hash) => Buffer.from(hash).toString('hex'))
  return { id: formatId('payment_batch', row.id), items_count: rows.length, merkle_root: row.root, index, leaf, path }
}

const presentMandate = ({ id, message, signature, signer, description }: MandateRow): Body['mandate'] => ({
  id: formatId('mandate', id),
  description,
  message,
  signature,
  signer,
})

const presentPolicy = (document: Readonly<Record<string, unknown>>): Body['policies'][number] => ({
  id: String(document.id),
  version: Number(document.version),
  document,
})

/** The policies that decided, in the versions of that time and in the order of the decision. */
const readPolicies = async (db: Db, { policy_versions: decided }: Decision): Promise<Body['policies']> => {
  if (decided.length === 0) return []
  const documents = await readPolicyVersions(
    db,
    decided.map(({ id, version }) => ({ id: parseId('policy', id) ?? '', version })),
  )
  return documents.map((document) => presentPolicy(document))
}

const presentTransfer = (transfer: TransferRecord): Body['ledger_transfers'][number] => ({
  id: formatId('ledger', transfer.id),
  kind: transfer.kind,
  ends: transfer.pendingId && formatId('ledger', transfer.pendingId),
  debit: transfer.debit,
  credit: transfer.credit,
  amount_minor: formatMinor(transfer.amountMinor),
  created_at: isoTime(transfer.createdAt),
})

/**
 * Everything that led to a payment and followed from it, in one document that we sign; `verifier/` checks it.
 * Undefined when the workspace has no such payment: what else was read then is dropped.
 */
export const buildReceipt = async (
  db: Db,
  deps: ReceiptParts,
  workspaceId: Uuid,
  paymentId: Uuid,
): Promise<Receipt | undefined> => {
  const [payment, transfers, audit, head] = await Promise.all([
    findPayment(db, { workspaceId, id: paymentId }),
    listTransfers(db, paymentId),
    db.run(auditOf, { paymentId }),
    readLogHead(db),
  ])
  if (!payment) return undefined
  const wire = presentPayment(payment)
  const { approvalId, mandateId, beneficiaryId } = payment
  const [beneficiary, policies, proofs, approval, decisions, mandate, leaves] = await Promise.all([
    findBeneficiary(db, workspaceId, beneficiaryId),
    readPolicies(db, wire.decision),
    proveRows(db, audit, head),
    approvalId && findApprovalRow(db, { id: approvalId }),
    approvalId === null ? [] : db.run(decisionsOf, { id: approvalId }),
    mandateId && findMandateRow(db, { id: mandateId }),
    payment.batchId === null ? [] : db.run(leavesOf, { paymentId }),
  ])
  if (!beneficiary) throw new Error('a payment has no beneficiary')
  const body: Body = {
    type: 'payment_receipt',
    version: 2,
    issuer: deps.config.publicUrl,
    issued_at: isoTime(deps.clock.now()),
    payment: wire,
    beneficiary: {
      id: wire.beneficiary_id,
      display_name: beneficiary.displayName,
      payment_rail: beneficiary.paymentRail,
      destination_mask: beneficiary.destinationMask,
    },
    policies,
    decision_inputs: inputsOf(audit),
    approval: approval ? presentApproval(approval, decisions) : null,
    batch: presentBatch(leaves, payment.batchIndex),
    mandate: mandate ? presentMandate(mandate) : null,
    ledger_transfers: transfers.map((transfer) => presentTransfer(transfer)),
    rail: { name: payment.rail, receipt: payment.providerReceipt },
    audit: presentAudit(deps, head, audit, proofs),
  }
  return { ...body, jws: signDocument(deps.receiptKeys, body, 'payment-receipt') }
}
