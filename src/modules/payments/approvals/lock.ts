import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Principal } from '../../../auth/principal.ts'
import { requireLocked } from '../../../db/account-lock.ts'
import { first, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { payments } from '../../../db/tables/payments.ts'
import { found, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName } from '../../../lib/wallet-name.ts'
import { findBatchRows, readItemIds } from '../batch/queries.ts'
import type { ChainAnswers } from '../evaluation/authority.ts'
import { lockPaymentsOf, type PaymentRecord } from '../queries.ts'
import {
  type ApprovalRecord,
  currentDecisions,
  type DecisionRow,
  decisionsOf,
  findApproval,
  itsGrant,
  itsPayee,
  itsPayment,
  selectDecisions,
  selection,
} from './queries.ts'
import { voidRefusedDecisions } from './void.ts'

const lockRow = prepare(
  'approvals.lock',
  { id: 'uuid', workspaceId: 'uuid?' },
  (orm, at) =>
    orm
      .select({ id: approvals.id })
      .from(approvals)
      .where(and(eq(approvals.id, at.id), at.workspaceId && eq(approvals.workspaceId, at.workspaceId)))
      .for('update'),
  'joined',
)

/** The approval, locked: after the owning ledger account and the payment. */
export const lockApproval = async (tx: Tx, id: Uuid): Promise<ApprovalRecord> => {
  // In this order, and without a wait between them: what is read is what the lock's last holder left.
  const [, record] = await Promise.all([tx.run(lockRow, { id }), findApproval(tx, id)])
  if (!record) throw new Error('an approval that must exist is missing')
  return record
}

/** An approval under its locks, with every payment that it is about: those of a batch in their order. */
export type LockedApproval = ApprovalRecord & { payments: PaymentRecord[] }

/** Lock order: accounts, payments, approval. */
export const lockWhole = async (
  tx: Tx,
  { approval, payment }: Pick<ApprovalRecord, 'approval' | 'payment'>,
): Promise<LockedApproval> => {
  const ids = approval.batchId ? await readItemIds(tx, approval.batchId) : [payment.id]
  // In this order, without a wait between them. A batch is of one account.
  const [rows, record] = await Promise.all([lockPaymentsOf(tx, [payment.accountId], ids), lockApproval(tx, approval.id)])
  const locked = new Map(rows.map((one) => [one.id, one]))
  return { ...record, payments: ids.flatMap((id) => locked.get(id) ?? []) }
}

/** An approval whose payment is read by the statement that locks it. */
type BesidesPayment = Omit<ApprovalRecord, 'payment'>
const { payment: _, ...besidesPayment } = selection
const selectBesides = (orm: QueryBuilder) =>
  orm
    .select(besidesPayment)
    .from(approvals)
    .innerJoin(payments, itsPayment)
    .innerJoin(beneficiaries, itsPayee)
    .leftJoin(grants, itsGrant)

const besidesOf = async (
  tx: Tx,
  row: Omit<BesidesPayment, 'batch' | 'decisions'> | undefined,
  decisions: DecisionRow[],
): Promise<BesidesPayment | undefined> => {
  if (!row) return undefined
  const { batchId } = row.approval
  const [batch = null] = batchId === null ? [] : await findBatchRows(tx, [batchId])
  return { ...row, decisions, batch }
}

const besidesById = prepare(
  'approvals.besides_payment',
  { id: 'uuid', workspaceId: 'uuid?' },
  (orm, at) =>
    selectBesides(orm).where(and(eq(approvals.id, at.id), at.workspaceId && eq(approvals.workspaceId, at.workspaceId))),
  'joined',
)

const lockItems = prepare(
  'approvals.lock_payments',
  { id: 'uuid', workspaceId: 'uuid?' },
  (orm, at) =>
    orm
      .select()
      .from(payments)
      .where(
        sql`${payments.id} = any(array(
          select asked.id from ${approvals} a
          cross join lateral (select a.payment_id as id union select p.id from ${payments} p where p.batch_id = a.batch_id) as asked
          where a.id = ${at.id} ${at.workspaceId ? sql`and a.workspace_id = ${at.workspaceId}` : sql``}))`,
      )
      .orderBy(asc(payments.batchIndex), asc(payments.id))
      .for('update'),
  'joined',
)

/** The same by its id, where the caller holds the lock of the account that pays: locked and read in one trip. */
export const lockWholeById = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<LockedApproval | undefined> => {
  // In this order, without a wait between them, as above.
  const [locked, , row, decisions] = await Promise.all([
    tx.run(lockItems, { id, workspaceId }),
    tx.run(lockRow, { id, workspaceId }),
    first(tx, besidesById, { id, workspaceId }),
    tx.run(decisionsOf, { id }),
  ])
  const record = await besidesOf(tx, row, decisions)
  if (!record) return undefined
  const payment = locked.find((one) => one.id === record.approval.paymentId)
  if (!payment) throw new Error('an approval has no payment')
  requireLocked(tx, [payment.accountId])
  return { ...record, payment, payments: locked }
}

const ofPayment = (at: { paymentId: SQL; workspaceId: SQL }): SQL =>
  sql`(select asked.approval_id from ${payments} asked where asked.id = ${at.paymentId} and asked.workspace_id = ${at.workspaceId})`
const paymentPlace = { paymentId: 'uuid', workspaceId: 'uuid' } as const
const lockOfPayment = prepare(
  'approvals.lock_of_payment',
  paymentPlace,
  (orm, at) =>
    orm
      .select({ id: approvals.id })
      .from(approvals)
      .where(eq(approvals.id, ofPayment(at)))
      .for('update'),
  'joined',
)
const byPayment = prepare(
  'approvals.by_payment',
  paymentPlace,
  (orm, at) => selectBesides(orm).where(eq(approvals.id, ofPayment(at))),
  'joined',
)
const decisionsOfPayment = prepare(
  'approvals.decisions_of_payment',
  paymentPlace,
  (orm, at) => selectDecisions(orm, eq(approvalDecisions.approvalId, ofPayment(at))),
  'joined',
)

/** The approval that a payment of a workspace asked for, locked and read without knowing its id: after the account and the payment. */
export const lockApprovalOf = async (tx: Tx, workspaceId: Uuid, paymentId: Uuid): Promise<BesidesPayment | undefined> => {
  const place = { paymentId, workspaceId }
  const [, row, decisions] = await Promise.all([
    tx.run(lockOfPayment, place),
    first(tx, byPayment, place),
    tx.run(decisionsOfPayment, place),
  ])
  return besidesOf(tx, row, decisions)
}

/** Contract wallets have signed decisions, and their chains were not asked yet: that takes time, so it is done outside of the transaction. */
export class UnaskedChains extends Refusal {
  constructor() {
    super('unavailable', { headers: { 'retry-after': '1' } })
  }
}

const hasContractSigned = (record: LockedApproval): boolean =>
  currentDecisions(record).some(
    ({ decision, signer }) => decision === 'approve' && (parseWalletName(signer ?? '')?.chainId ?? null) !== null,
  )

type Held = { id: Uuid; principal?: Principal; answers: ChainAnswers | null }

/** Locks an approval, without the decisions in it that the chains of their contract wallets refuse now. `answers`: null where none was asked. */
export const lockHeld = async (tx: Tx, { id, principal, answers }: Held): Promise<LockedApproval> => {
  const record = found(await lockWholeById(tx, id, principal?.workspace.id))
  const isPending = record.approval.status === 'pending'
  if (isPending && answers === null && hasContractSigned(record)) throw new UnaskedChains()
  const isVoided = isPending && answers !== null && (await voidRefusedDecisions(tx, answers))
  return isVoided ? lockWhole(tx, record) : record
}
