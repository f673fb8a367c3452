import { sha256 } from '../../../auth/secrets.ts'
import type { Db } from '../../../db/client.ts'
import type { Prepared } from '../../../db/prepare.ts'
import { isoTime } from '../../../http/wire.ts'
import { listTransfers, type TransferRecord } from '../../../ledger/reports.ts'
import { canonicalJson } from '../../../lib/canonical.ts'
import { formatId, parseId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { Decision } from '../../policies/schema.ts'
import type { Deps } from '../deps.ts'
import { presentPayment } from '../present.ts'
import { findPayment } from '../queries.ts'
import { approvalOf, auditOf, decisionsOf, mandateOf, paidTo, policyVersionsOf } from './queries.ts'
import type { Receipt } from './schema.ts'

type Body = Omit<Receipt, 'digest'>

type Rows<Q> = Q extends Prepared<infer _, infer Row> ? readonly Row[] : never

const presentAudit = (rows: Rows<typeof auditOf>): Body['audit'] =>
  rows.map((row) => ({
    id: formatId('audit', row.id),
    action: row.action,
    at: isoTime(row.at),
    seal:
      row.sequence && row.hash && row.sealedAt
        ? { sequence: Number(row.sequence), hash: row.hash, sealed_at: isoTime(row.sealedAt) }
        : null,
  }))

const presentApproval = ([approval]: Rows<typeof approvalOf>, decisions: Rows<typeof decisionsOf>): Body['approval'] =>
  approval
    ? {
        id: formatId('approval', approval.id),
        status: approval.status,
        required_approvals: approval.requiredApprovals,
        separation_of_duties: approval.separationOfDuties,
        messages: { approve: approval.approveMessage, reject: approval.rejectMessage },
        decisions: decisions.map(({ decision }) => ({
          account_id: formatId('account', decision.accountId),
          decision: decision.decision,
          via: decision.via,
          reason: decision.reason,
          signer: decision.signer,
          signature: decision.signature,
          message: decision.message,
          decided_at: isoTime(decision.decidedAt),
        })),
      }
    : null

const presentMandate = ([row]: Rows<typeof mandateOf>): Body['mandate'] => {
  if (!row) return null
  const { id, message, signature, signer, description } = row.mandate
  return { id: formatId('mandate', id), description, message, signature, signer }
}

/** The policies that decided, in the versions of that time and in the order of the decision. */
const readPolicies = async (db: Db, { policy_versions: decided }: Decision): Promise<Body['policies']> => {
  if (decided.length === 0) return []
  const ids = decided.map(({ id }) => parseId('policy', id) ?? '')
  const rows = await db.run(policyVersionsOf, { ids, versions: decided.map(({ version }) => version) })
  return rows.map(({ document }) => ({ id: String(document.id), version: Number(document.version), document }))
}

const presentTransfers = (transfers: readonly TransferRecord[]): Body['ledger_transfers'] =>
  transfers.map((transfer) => ({
    id: formatId('ledger', transfer.id),
    kind: transfer.kind,
    ends: transfer.pendingId && formatId('ledger', transfer.pendingId),
    debit: transfer.debit,
    credit: transfer.credit,
    amount_minor: formatMinor(transfer.amountMinor),
    created_at: isoTime(transfer.createdAt),
  }))

/**
 * Everything that led to a payment and followed from it, in one document with a digest. docs/verify-receipt.mjs checks it offline.
 * Undefined when the workspace has no such payment: what else was read then is dropped.
 */
export const buildReceipt = async (
  db: Db,
  deps: Pick<Deps, 'config'>,
  workspaceId: Uuid,
  paymentId: Uuid,
): Promise<Receipt | undefined> => {
  const [payment, [beneficiary], approval, decisions, mandate, transfers, audit] = await Promise.all([
    findPayment(db, workspaceId, paymentId),
    db.run(paidTo, { paymentId }),
    db.run(approvalOf, { paymentId }),
    db.run(decisionsOf, { paymentId }),
    db.run(mandateOf, { paymentId }),
    listTransfers(db, paymentId),
    db.run(auditOf, { paymentId }),
  ])
  if (!payment || !beneficiary) return undefined
  const wire = presentPayment(payment)
  const body: Body = {
    type: 'payment_receipt',
    version: 1,
    issuer: deps.config.publicUrl,
    payment: wire,
    beneficiary: {
      id: wire.beneficiary_id,
      display_name: beneficiary.displayName,
      payment_rail: beneficiary.paymentRail,
      destination_mask: beneficiary.destinationMask,
    },
    policies: await readPolicies(db, wire.decision),
    approval: presentApproval(approval, decisions),
    mandate: presentMandate(mandate),
    ledger_transfers: presentTransfers(transfers),
    rail: { name: payment.rail, receipt: payment.providerReceipt },
    audit: presentAudit(audit),
  }
  return { ...body, digest: `sha256:${sha256(canonicalJson(body)).toString('hex')}` }
}
