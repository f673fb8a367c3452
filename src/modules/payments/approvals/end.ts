import { sql } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { lockAccounts } from '../../../db/account-lock.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { grants } from '../../../db/tables/grants.ts'
import { balanceAccountSql } from '../../../db/tables/workspaces.ts'
import { isWaiting, type ReleasedPaymentStatus } from '../../../db/transitions.ts'
import { type Failure, failure } from '../../../errors/failures.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { conflict, found, Refusal } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { sweepOf } from '../../for-each-row.ts'
import { moveBatch } from '../batch/change.ts'
import { type BatchRecord, findBatch, findBatches, readItemIds } from '../batch/queries.ts'
import { endPayments, releasePayment } from '../change.ts'
import { lockPaymentIn, lockPaymentsWithAccounts, type PaymentRecord } from '../queries.ts'
import { type ApprovalRecord, approvalEvent, type LockedApproval, lockApproval, lockApprovalRow } from './queries.ts'

type UnpaidEnd = 'rejected' | 'expired' | 'cancelled'

/** Ends an approval: writes its status, event and audit row. The caller holds all locks and changes the payment. */
export const endApproval = async (
  tx: Tx,
  actor: Actor,
  record: ApprovalRecord,
  to: UnpaidEnd | 'approved',
): Promise<ApprovalRecord> => {
  const { at } = tx
  const approval = updateRow(tx, approvals, record.approval, { status: to, updatedAt: at, noticeDueAt: at })
  const after = { ...record, approval }
  await appendEvents(tx, [approvalEvent(`approval.${to}`, after)])
  audit(tx, actor, `approval.${to}`, { workspaceId: approval.workspaceId, subject: approval.id })
  return after
}

/** Final status of a scheduled payment whose approval ends. It cannot become `rejected` or `expired`. */
const scheduledEnds = {
  rejected: { to: 'cancelled' },
  cancelled: { to: 'cancelled' },
  expired: { to: 'failed', failure: failure('approval_expired') },
} as const satisfies Record<UnpaidEnd, { to: ReleasedPaymentStatus; failure?: Failure }>

/** Ends an approval with its batch and payments, whose holds and charges are released. The caller holds all locks. */
export const endWithPayments = async (tx: Tx, actor: Actor, record: LockedApproval, to: UnpaidEnd): Promise<LockedApproval> => {
  const { approval } = record
  const endOf = ({ status }: PaymentRecord) => (status === 'scheduled' ? scheduledEnds[to] : { to })
  const ends = record.payments.map((payment) => ({ payment, actor, ...endOf(payment) }))
  const payments = await endPayments(tx, ends)
  if (approval.batchId) await moveBatch(tx, actor, approval.batchId, endOf(record.payment).to)
  const after = await refreshed(tx, record, payments)
  return { ...(await endApproval(tx, actor, after, to)), payments }
}

export const refreshed = async (tx: Tx, record: LockedApproval, payments: PaymentRecord[]): Promise<LockedApproval> => ({
  ...record,
  payments,
  payment: payments.find(({ id }) => id === record.payment.id) ?? record.payment,
  batch: record.batch && ((await findBatches(tx, [record.batch.id]))[0]?.batch ?? record.batch),
})

export const cancelApproval = async (tx: Tx, actor: Actor, { approvalId }: PaymentRecord): Promise<void> => {
  const record = approvalId && (await lockApprovalRow(tx, approvalId))
  if (record && record.approval.status === 'pending') await endApproval(tx, actor, record, 'cancelled')
}

/** The sweep, or a decision before it, ends payments whose requester lost the right to request them. */
export const endOfAuthority: Actor = { accountId: null, origin: null, way: 'end_of_authority' }

export const expireApproval = (tx: Tx, record: LockedApproval): Promise<LockedApproval> =>
  endWithPayments(tx, { accountId: null, origin: null, way: 'timer' }, record, 'expired')

export const expireApprovals = sweepOf(
  'approvals.expire',
  {
    id: approvals.id,
    due: approvals.expiresAt,
    where: [sql`${approvals.status} = 'pending'`],
    fields: {
      accountId: approvals.accountId,
      balanceAccountId: sql<Uuid>`(select ${sql.raw(balanceAccountSql('w'))} from workspaces w where w.id = ${approvals.workspaceId})`,
    },
  },
  (deps, { id, accountId, balanceAccountId }) =>
    inTx(deps.db, async (tx) => {
      const [, record] = await Promise.all([lockAccounts(tx, { exclusive: [accountId, balanceAccountId] }), lockApproval(tx, id)])
      if (record?.approval.status === 'pending') await expireApproval(tx, record)
    }),
)

const findGrant = selectRow('payments.asking_grant', grants, ['id'], { connection: 'coalesced' })

const requireOwnLineage = async (tx: Tx, { grant }: Principal, requestingGrantId: Uuid | null): Promise<void> => {
  if (!grant || grant.id === requestingGrantId) return
  if (requestingGrantId !== null && (await findGrant(tx, { id: requestingGrantId }))?.ancestorIds.includes(grant.id)) return
  throw new Refusal('forbidden', {
    message: 'An API key or an agent cancels only payments that it, or a key or agent below it, has initiated.',
  })
}

/** Cancels a payment that is scheduled or pending approval. A second call returns the same result. */
export const cancelPayment = async (tx: Tx, principal: Principal, id: Uuid): Promise<PaymentRecord> => {
  const payment = found(await lockPaymentIn(tx, principal.workspace.id, id))
  await requireOwnLineage(tx, principal, payment.grantId)
  if (payment.status === 'cancelled') return payment
  if (payment.batchId && isWaiting(payment.status))
    throw conflict('This payment is an item of a batch, which is approved and cancelled as a whole.', 'batch_item', {
      status: payment.status,
      batch_id: formatId('payment_batch', payment.batchId),
    })
  if (!isWaiting(payment.status))
    throw conflict(`A payment that is ${payment.status} cannot be cancelled.`, 'status', { status: payment.status })
  const cancelled = await releasePayment(tx, payment, { to: 'cancelled', actor: principal })
  await cancelApproval(tx, principal, cancelled)
  return cancelled
}

/** Cancels a batch that is scheduled or pending approval, with all its payments. A second call returns the same result. */
export const cancelBatch = async (tx: Tx, principal: Principal, id: Uuid): Promise<BatchRecord> => {
  const read = async () => found(await findBatch(tx, principal.workspace.id, id))
  const { approvalId } = (await read()).batch
  const approval = approvalId && (await lockApproval(tx, approvalId))
  const payments = approval ? approval.payments : await lockPaymentsWithAccounts(tx, await readItemIds(tx, id))
  const { batch } = await read()
  await requireOwnLineage(tx, principal, batch.grantId)
  if (batch.status === 'cancelled') return read()
  if (!isWaiting(batch.status))
    throw conflict(`A batch that is ${batch.status} cannot be cancelled.`, 'status', { status: batch.status })
  if (approval && approval.approval.status === 'pending') await endWithPayments(tx, principal, approval, 'cancelled')
  else {
    // It waits only until it is due: it needs no approval, or already has one.
    const ends = payments.map((payment) => ({ payment, to: 'cancelled' as const, actor: principal }))
    await endPayments(tx, ends)
    await moveBatch(tx, principal, id, 'cancelled')
  }
  return read()
}
