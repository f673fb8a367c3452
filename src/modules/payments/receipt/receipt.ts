import { asc, eq } from 'drizzle-orm'
import { sha256 } from '../../../auth/secrets.ts'
import { type Db, statement } from '../../../db/client.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { intentMandates } from '../../../db/tables/mandates.ts'
import { isoTime } from '../../../http/wire.ts'
import { listTransfers } from '../../../ledger/reports.ts'
import { canonicalJson } from '../../../lib/canonical.ts'
import { formatId, parseId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import type { Decision } from '../../policies/schema.ts'
import type { Deps } from '../deps.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'
import type { Receipt } from './schema.ts'

type Body = Omit<Receipt, 'digest'>

/** The audit rows of a payment, each with the seal that covers it: the first seal at or after the row. */
const audited = statement(
  'receipts.audit',
  `select a.id, a.action, a.at, s.sequence::text as sequence, encode(s.hash, 'hex') as hash, s.sealed_at
   from audit_log a left join lateral (
     select * from audit_seals s where (s.through_transaction, s.through_id) >= (a.transaction, a.id) order by s.sequence limit 1) s on true
   where a.subject_id = any($1::uuid[]) order by a.transaction, a.id`,
)
type AuditedRow = { id: Uuid; action: string; at: Date; sequence: string | null; hash: string | null; sealed_at: Date | null }

const auditOf = async (db: Db, payment: PaymentRecord): Promise<Body['audit']> => {
  const subjects = [payment.id, ...(payment.approvalId ? [payment.approvalId] : [])]
  const rows = await db.query<AuditedRow>(audited, [subjects])
  return rows.map((row) => ({
    id: formatId('audit', row.id),
    action: row.action,
    at: isoTime(row.at),
    seal:
      row.sequence && row.hash && row.sealed_at
        ? { sequence: Number(row.sequence), hash: row.hash, sealed_at: isoTime(row.sealed_at) }
        : null,
  }))
}

const approvalOf = async (db: Db, payment: PaymentRecord): Promise<Body['approval']> => {
  if (!payment.approvalId) return null
  const [approval] = await db.orm.select().from(approvals).where(eq(approvals.id, payment.approvalId))
  if (!approval) return null
  const decisionRows = await db.orm
    .select()
    .from(approvalDecisions)
    .where(eq(approvalDecisions.approvalId, approval.id))
    .orderBy(asc(approvalDecisions.id))
  return {
    id: formatId('approval', approval.id),
    status: approval.status,
    required_approvals: approval.requiredApprovals,
    separation_of_duties: approval.separationOfDuties,
    messages: { approve: approval.approveMessage, reject: approval.rejectMessage },
    decisions: decisionRows.map((decision) => ({
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
}

const mandateOf = async (db: Db, payment: PaymentRecord): Promise<Body['mandate']> => {
  if (!payment.mandateId) return null
  const [mandate] = await db.orm.select().from(intentMandates).where(eq(intentMandates.id, payment.mandateId))
  if (!mandate) return null
  const { message, signature, signer, description } = mandate
  return { id: formatId('mandate', mandate.id), description, message, signature, signer }
}

const versions = statement(
  'receipts.policies',
  `select v.document from unnest($1::uuid[], $2::int[]) with ordinality as w(id, version, place)
   join spending_policy_versions v on v.policy_id = w.id and v.version = w.version order by w.place`,
)

/** The policies that decided, in the versions of that time and in the order of the decision. */
const policiesOf = async (db: Db, { policy_versions: policyVersions }: Decision): Promise<Body['policies']> => {
  const values = [policyVersions.map(({ id }) => parseId('policy', id)), policyVersions.map(({ version }) => version)]
  const rows = await db.query<{ document: Body['policies'][number]['document'] }>(versions, values)
  return rows.map(({ document }) => ({ id: String(document.id), version: Number(document.version), document }))
}

const transfersOf = async (db: Db, payment: PaymentRecord): Promise<Body['ledger_transfers']> =>
  (await listTransfers(db, payment.id)).map((transfer) => ({
    id: formatId('ledger', transfer.id),
    kind: transfer.kind,
    ends: transfer.pendingId && formatId('ledger', transfer.pendingId),
    debit: transfer.debit,
    credit: transfer.credit,
    amount_minor: formatMinor(transfer.amountMinor),
    created_at: isoTime(transfer.createdAt),
  }))

/** Everything that led to a payment and followed from it, in one document with a digest. docs/verify-receipt.mjs checks it offline. */
export const buildReceipt = async (db: Db, deps: Pick<Deps, 'config'>, payment: PaymentRecord): Promise<Receipt> => {
  const wire = presentPayment(payment)
  const beneficiary = await findBeneficiary(db, payment.workspaceId, payment.beneficiaryId)
  if (!beneficiary) throw new Error('a payment has no beneficiary')
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
    policies: await policiesOf(db, wire.decision),
    approval: await approvalOf(db, payment),
    mandate: await mandateOf(db, payment),
    ledger_transfers: await transfersOf(db, payment),
    rail: { name: payment.rail, receipt: payment.providerReceipt },
    audit: await auditOf(db, payment),
  }
  return { ...body, digest: `sha256:${sha256(canonicalJson(body)).toString('hex')}` }
}
