import type { Tx } from '../../db/client.ts'
import { updateRows } from '../../db/prepare-write.ts'
import { payments } from '../../db/tables/payments.ts'
import { openPaymentStatuses, type ReleasedPaymentStatus, requireMove } from '../../db/transitions.ts'
import type { Failure } from '../../errors/failures.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { endHolds } from '../../ledger/ledger.ts'
import { byChunks, mapInChunks, only } from '../../lib/lists.ts'
import { getHolders } from '../identity/accounts/queries.ts'
import { balanceEvents } from '../identity/accounts/service.ts'
import { exhaustMandateIfSpent } from '../mandates/end.ts'
import { cancelWaitingCosts } from '../suspense/adjustment-service.ts'
import { finishBatches } from './batch/change.ts'
import { releaseCharges } from './evaluation/counters.ts'
import { presentListed, presentPayment } from './present.ts'
import type { PaymentRecord } from './queries.ts'

const changeable = [
  'status',
  'dispatchDueAt',
  'providerReceipt',
  'failureCode',
  'failureMessage',
  'providerCode',
  'lateSuccessReceipt',
  'lateSuccessAmountMinor',
  'lateSuccessAt',
  'lateSuccessResolution',
  'lateSuccessResolvedAt',
  'completedAt',
] as const

type PaymentChange = Partial<Pick<PaymentRecord, (typeof changeable)[number]>>

type ChangeOptions = {
  actor: Actor
  /** By default, `type` and `action` are the event of the new status. Null: no event. */
  type?: Extract<EventType, `payment.${string}`> | null
  action?: AuditAction
  after?: Record<string, unknown>
  inputs?: string | undefined
}

type PendingChange = { payment: PaymentRecord; change: PaymentChange; options: ChangeOptions }

const afterChange = ({ payment, change }: PendingChange, at: Date): PaymentRecord => {
  const status = change.status ?? payment.status
  if (status !== payment.status) requireMove('payment', payment.status, status)
  return { ...payment, ...change, ...(status !== 'processing' && { dispatchDueAt: null }), updatedAt: at }
}

/** Null for a scheduled payment, and for one pending approval: the approval publishes its own event. */
const statusEvent = ({ status }: PaymentRecord) =>
  status === 'scheduled' || status === 'pending_approval' ? null : (`payment.${status}` as const)

const eventOf = (after: PaymentRecord, { type }: ChangeOptions): NewEvent[] => {
  const named = type === undefined ? statusEvent(after) : type
  const { accountId, workspaceId } = after
  if (named === null) return []
  const data = after.snapshot.due_decision ? presentListed(after) : presentPayment(after)
  return [{ type: named, accountId, workspaceId, paymentId: after.id, data, snapshot: after.snapshot }]
}

/** Whether a change decides an unknown outcome or who bears a late success. Both cancel an administrator's pending proposal. */
const isDecided = (before: PaymentRecord, after: PaymentRecord): boolean =>
  (before.status === 'unknown' && after.status !== 'unknown') || before.lateSuccessResolution !== after.lateSuccessResolution

const isEnded = (status: PaymentRecord['status']): boolean =>
  status !== 'scheduled' && !openPaymentStatuses.some((open) => open === status)

/**
 * The only function that changes the status of payments, with one query per table and chunk. `balances`: the events of the
 * accounts whose money moved. The caller has locked the owning accounts and the payments, and passes each payment once.
 */
export const writeChanges = async (
  tx: Tx,
  changing: readonly PendingChange[],
  balances: readonly NewEvent[] = [],
): Promise<PaymentRecord[]> => {
  const { at } = tx
  const pairs = changing.map((each) => ({ ...each, after: afterChange(each, at) }))
  const events = await mapInChunks(pairs, ({ after, options }) => eventOf(after, options))
  const rows = pairs.map(({ after }) => after)
  await byChunks(rows, (chunk) => tx.defer(updateRows(tx, payments, [...changeable, 'updatedAt'], chunk)))
  await mapInChunks(pairs, ({ payment, after, options }) =>
    audit(tx, options.actor, options.action ?? statusEvent(after) ?? 'payment.create', {
      workspaceId: after.workspaceId,
      subject: after.id,
      before: { status: payment.status },
      after: { status: after.status, ...options.after },
      inputs: options.inputs,
    }),
  )
  await appendEvents(tx, [...events.flat(), ...balances])
  const decided = pairs.filter(({ payment, after }) => isDecided(payment, after))
  await cancelWaitingCosts(
    tx,
    decided.map(({ payment: { id: paymentId }, options: { actor } }) => ({ paymentId, actor })),
  )
  const batches = new Set(pairs.flatMap(({ after }) => (after.batchId && isEnded(after.status) ? [after.batchId] : [])))
  if (batches.size > 0) await finishBatches(tx, [...batches])
  return rows
}

export const writeChange = async (
  tx: Tx,
  payment: PaymentRecord,
  change: PaymentChange,
  { balance, ...options }: ChangeOptions & { balance?: readonly NewEvent[] },
): Promise<PaymentRecord> => only(await writeChanges(tx, [{ payment, change, options }], balance))

export type Release = { to: ReleasedPaymentStatus; actor: Actor; failure?: Failure | undefined }

/** `succeeded` posts the hold, because the money has left. Any other end releases the hold and the used limits. */
export type PaymentEnd = { payment: PaymentRecord } & (Release | { to: 'succeeded'; actor: Actor; receipt: string | null })

const changeOf = (end: PaymentEnd, at: Date): PendingChange => {
  const { payment, actor } = end
  if (end.to === 'succeeded') {
    const change = { status: end.to, providerReceipt: end.receipt, completedAt: at }
    return { payment, change, options: { actor, after: { provider_receipt: end.receipt } } }
  }
  const { failure } = end
  const change = {
    status: end.to,
    failureCode: failure?.code ?? null,
    failureMessage: failure?.message ?? null,
    providerCode: failure?.providerCode ?? null,
    completedAt: at,
  }
  const after = failure && { failure_code: failure.code, provider_code: failure.providerCode }
  return { payment, change, options: { actor, ...(after && { after }) } }
}

/**
 * Ends payments with their holds and charges, and exhausts spent mandates. The caller has locked the owning accounts and the
 * payments, and passes each payment once. Results are in the same order.
 */
export const endPayments = async (tx: Tx, ends: readonly PaymentEnd[]): Promise<PaymentRecord[]> => {
  if (ends.length === 0) return []
  // A scheduled payment has no hold and no charges.
  const held = ends.filter(({ payment }) => payment.holdTransferId !== null)
  const holds = held.flatMap(({ payment: { accountId: ownerId, holdTransferId, feeHoldTransferId }, to }) =>
    [holdTransferId, feeHoldTransferId].flatMap((holdId) =>
      holdId === null ? [] : [{ holdId, ownerId, kind: to === 'succeeded' ? ('post' as const) : ('void' as const) }],
    ),
  )
  const released = held.flatMap(({ payment, to }) => (to === 'succeeded' ? [] : [payment.id]))
  const owners = [...new Set(holds.map(({ ownerId }) => ownerId))]
  const [balances, holders] = await Promise.all([
    endHolds(tx, holds),
    owners.length === 0 ? [] : getHolders(tx, owners),
    releaseCharges(tx, released),
  ])
  const changing = ends.map((end) => changeOf(end, tx.at))
  const after = await writeChanges(tx, changing, balanceEvents(holders, balances))
  const used = after.flatMap(({ status, mandateId }) => (status === 'succeeded' && mandateId ? [mandateId] : []))
  for (const mandateId of new Set(used)) await exhaustMandateIfSpent(tx, mandateId)
  return after
}

export const releasePayment = async (tx: Tx, payment: PaymentRecord, release: Release): Promise<PaymentRecord> =>
  only(await endPayments(tx, [{ payment, ...release }]))

export const wakeForPayments = (tx: Tx, started: readonly Pick<PaymentRecord, 'id' | 'rail'>[]): void => {
  const rails = [...new Set(started.map(({ rail }) => rail))]
  if (rails.length > 0) wakeAfterCommit(tx, 'payments', { rails, dueIds: started.map(({ id }) => id) })
}

/** Writes no queue entry: rail workers claim payment rows whose `dispatchDueAt` has passed. */
export const startPayments = async (tx: Tx, payments: readonly PaymentRecord[]): Promise<PaymentRecord[]> => {
  if (payments.length === 0) return []
  wakeForPayments(tx, payments)
  const change = { status: 'processing', dispatchDueAt: tx.at } as const
  const options = { actor: { accountId: null, origin: null, way: 'approval' } }
  return writeChanges(
    tx,
    payments.map((payment) => ({ payment, change, options })),
  )
}
