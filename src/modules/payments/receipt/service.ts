import { asc, eq, sql } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { prepare, type RowOf } from '../../../db/prepare.ts'
import { auditLog } from '../../../db/tables/events.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { createProver, readLogHead } from '../../../events/seal-proofs.ts'
import { presenter } from '../../../http/presenter.ts'
import { listTransfers } from '../../../ledger/reports.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, parseId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import { inclusionPath, leafHash, treeOf } from '../../../lib/merkle.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import { findMandate } from '../../mandates/queries.ts'
import type { Parts } from '../../parts.ts'
import type { Decision } from '../../policies/schema.ts'
import { presentProof, signDocument, signHead } from '../../proof/service.ts'
import { type ApprovalRecord, findApproval } from '../approvals/queries.ts'
import { presentPayment } from '../present.ts'
import { findPayment } from '../queries.ts'
import { Receipt } from './schema.ts'

/** Each audit row with the first seal that covers it. Raw SQL, because the query compares pairs of columns. */
const auditOf = prepare('receipts.audit', { paymentId: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({
      id: sql<Uuid>`a.id`,
      action: sql<string>`a.action`,
      at: sql<Date>`a.at`,
      inputs: sql<unknown>`case when a.action = 'payment.create' then a.inputs end`.mapWith(auditLog.inputs),
      sequence: sql<bigint | null>`s.sequence`,
      rowsRoot: sql<Buffer | null>`s.rows_root`,
      through: sql<{
        transaction: string
        id: Uuid
      }>`json_build_object('transaction', s.through_transaction::text, 'id', s.through_id)`,
      after: sql<{ transaction: string; id: Uuid } | null>`case when p.sequence is not null
        then json_build_object('transaction', p.through_transaction::text, 'id', p.through_id) end`,
    })
    .from(
      sql`audit_log a left join lateral (
        select * from audit_seals where (through_transaction, through_id) >= (a.transaction, a.id)
        order by through_transaction, through_id limit 1) s on true
      left join audit_seals p on p.sequence = s.sequence - 1`,
    )
    .where(
      sql`a.subject_id = any(array(select ${param.paymentId} union all select approval_id from payments where id = ${param.paymentId}))`,
    )
    .orderBy(sql`a.transaction`, sql`a.id`),
)

/** Policy versions in the requested order. Raw SQL, because the requested rows come from arrays, each passed as one string. */
const policyVersions = prepare('receipts.policies', { ids: 'text', versions: 'text' }, 'coalesced', (orm, param) =>
  orm
    .select({ document: sql<Readonly<Record<string, unknown>>>`v.document` })
    .from(
      sql`unnest(${param.ids}::uuid[], ${param.versions}::int[]) with ordinality as w(id, version, place)
        join spending_policy_versions v on v.policy_id = w.id and v.version = w.version`,
    )
    .orderBy(sql`w.place`),
)

const leavesOf = prepare('receipts.batch', { batchId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: paymentBatches.id, root: paymentBatches.merkleRoot, leaf: payments.batchLeaf })
    .from(paymentBatches)
    .innerJoin(payments, eq(payments.batchId, paymentBatches.id))
    .where(eq(paymentBatches.id, param.batchId))
    .orderBy(asc(payments.batchIndex)),
)

type Tree = { rows: readonly RowOf<typeof leavesOf>[]; tree: ReturnType<typeof treeOf> }

const readTree = async (db: Db, batchId: Uuid): Promise<Tree> => {
  const rows = await db.run(leavesOf, { batchId })
  return { rows, tree: treeOf(rows.map(({ leaf }) => leafHash(leaf ?? ''))) }
}

type Body = Omit<Receipt, 'jws'>
export type ReceiptParts = Pick<Parts, 'clock' | 'config' | 'receiptKeys'>

const { approval: ShownApproval, mandate: ShownMandate, ledger_transfers: ShownTransfers } = Receipt.shape
const shownPayee = presenter(Receipt.shape.beneficiary)
const shownApproval = presenter(ShownApproval.unwrap())
const shownDecision = presenter(ShownApproval.unwrap().shape.decisions.element)
const shownMandate = presenter(ShownMandate.unwrap())
const shownTransfer = presenter(ShownTransfers.element)

/** The approval with its signatures, in the form that a verifier needs. */
export const presentSigned = ({ approval, decisions }: ApprovalRecord): NonNullable<Body['approval']> =>
  shownApproval(approval, {
    messages: { approve: approval.approveMessage, reject: approval.rejectMessage },
    decisions: decisions.map((decision) => shownDecision(decision, { passkey: decision.passkeyProof })),
  })

const presentBatch = ({ rows, tree }: Tree, index: number | null): Body['batch'] => {
  const row = index === null ? undefined : rows[index]
  if (index === null || !row?.leaf) return null
  const path = inclusionPath(index, rows.length, tree).map((hash) => Buffer.from(hash).toString('hex'))
  const id = formatId('payment_batch', row.id)
  return { id, items_count: rows.length, merkle_root: row.root, index, leaf: row.leaf, path }
}

const readPolicies = async (db: Db, { policy_versions: decided }: Decision): Promise<Body['policies']> => {
  if (decided.length === 0) return []
  const ids = makePgArray(decided.map(({ id }) => parseId('policy', id) ?? ''))
  const versions = makePgArray(decided.map(({ version }) => version))
  const rows = await db.run(policyVersions, { ids, versions })
  return rows.map(({ document }) => ({ id: String(document.id), version: Number(document.version), document: { ...document } }))
}

/** Reads the log's head and seals once, and a batch's tree once while its items follow each other. Checked by `verifier/`. */
export const createReceiptBuilder = (db: Db, deps: ReceiptParts, workspaceId: Uuid) => {
  const logHead = readLogHead(db)
  const signedHead = logHead.then((read) => signHead(deps.config, deps.receiptKeys, read))
  // Only building a receipt awaits it. A rejection that nothing awaits would end the process.
  signedHead.catch(() => undefined)
  const prove = createProver(db, logHead)
  let last: { batchId: Uuid; tree: Promise<Tree> } | undefined
  const treeOfBatch = (batchId: Uuid): Promise<Tree> => {
    if (last?.batchId !== batchId) last = { batchId, tree: readTree(db, batchId) }
    return last.tree
  }
  return async (paymentId: Uuid): Promise<Receipt | undefined> => {
    const [payment, transfers, audit, head] = await Promise.all([
      findPayment(db, { workspaceId, id: paymentId }),
      listTransfers(db, paymentId),
      db.run(auditOf, { paymentId }),
      signedHead,
    ])
    if (!payment) return undefined
    const presented = presentPayment(payment)
    const { approvalId, mandateId, beneficiaryId } = payment
    // The decision when a scheduled payment was due replaces that of its creation.
    const decisions = audit.filter(({ action }) => action === 'payment.create')
    const inputs = decisions.at(payment.snapshot.due_decision ? -1 : 0)?.inputs
    const [beneficiary, policies, proofs, approval, mandate, batch] = await Promise.all([
      findBeneficiary(db, workspaceId, beneficiaryId),
      readPolicies(db, presented.decision),
      prove(audit),
      approvalId && findApproval(db, approvalId),
      mandateId && findMandate(db, mandateId, workspaceId),
      payment.batchId === null ? null : treeOfBatch(payment.batchId),
    ])
    const body: Body = {
      type: 'payment_receipt',
      version: 2,
      issuer: deps.config.publicUrl,
      issued_at: isoTime(deps.clock.now()),
      payment: presented,
      beneficiary: shownPayee(assertPresent(beneficiary, 'a payment has no beneficiary')),
      policies,
      decision_inputs: inputs ? { ...inputs } : null,
      approval: approval ? presentSigned(approval) : null,
      batch: batch && presentBatch(batch, payment.batchIndex),
      mandate: mandate ? shownMandate(mandate) : null,
      ledger_transfers: transfers.map((transfer) =>
        shownTransfer(transfer, { ends: transfer.pendingId && formatId('ledger', transfer.pendingId) }),
      ),
      rail: { name: payment.rail, receipt: payment.providerReceipt },
      audit: {
        head,
        rows: audit.map(({ id, action, at }, index) => {
          const proof = proofs[index]
          return { id: formatId('audit', id), action, at: isoTime(at), proof: proof ? presentProof(proof) : null }
        }),
      },
    }
    return { ...body, jws: signDocument(deps.receiptKeys, body, 'payment-receipt') }
  }
}
