import { isNull, sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { wakeAfterCommit } from '../../../jobs/jobs.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { MandateStanding } from '../../../policy/types.ts'
import { sweepRows } from '../../for-each-row.ts'
import { mandateStanding } from '../../mandates/for-payments.ts'
import { expireApproval } from '../approvals/decide.ts'
import { lockApproval } from '../approvals/lock.ts'
import { findApproval } from '../approvals/queries.ts'
import { requestApproval } from '../approvals/request.ts'
import { moveBatch } from '../batch/change.ts'
import { readItemIds } from '../batch/queries.ts'
import type { Accepted } from '../create/decide.ts'
import { takeDue } from '../create/write.ts'
import type { DecideDeps, Deps } from '../deps.ts'
import { endPayments } from '../lifecycle/end.ts'
import { writeChanges } from '../lifecycle/write-change.ts'
import { lockPaymentsWithAccounts, type PaymentRecord } from '../queries.ts'
import { type Due, decideDue } from './decide-due.ts'

const timer = { accountId: null, origin: null, way: 'timer' } as const

const asked = (accepted: Accepted): Accepted => ({
  ...accepted,
  payment: { ...accepted.payment, status: 'pending_approval' },
})

/** The holds, then the statuses with their events and one event of the balance, then the approvals that are asked for now. */
const begin = async (tx: Tx, deps: DecideDeps, due: readonly Due[], state: Parameters<typeof takeDue>[2]): Promise<void> => {
  const begun = due.flatMap((each) => (each.kind === 'failed' ? [] : [each]))
  if (begun.length === 0) return
  const balances = await takeDue(
    tx,
    begun.map(({ accepted }) => accepted),
    state,
  )
  await writeChanges(
    tx,
    begun.map(({ kind, accepted: { payment, decision, inputs } }) => ({
      payment,
      change: kind === 'sent' ? { status: 'processing', dispatchDueAt: tx.at } : { status: 'pending_approval' },
      options: { actor: timer, after: { outcome: decision.outcome }, inputs },
    })),
    balances,
  )
  for (const { kind, accepted } of begun)
    if (kind === 'asked') await requestApproval(tx, deps, asked(accepted), accepted.payment.originGrantId)
  const rails = begun.flatMap(({ kind, payment }) => (kind === 'sent' ? [payment.rail] : []))
  wakeAfterCommit(tx, 'payments', [...new Set(rails)])
}

/** Sends what is due together: one payment, or all items of a batch. */
const executeTogether = async (
  tx: Tx,
  deps: DecideDeps,
  payments: readonly PaymentRecord[],
  standing: MandateStanding,
): Promise<void> => {
  const { due, spending } = await decideDue(tx, deps, payments, standing)
  const batchId = payments[0]?.batchId
  const sends = due.some(({ kind }) => kind !== 'failed')
  if (batchId && sends) await moveBatch(tx, timer, batchId, 'processing')
  await begin(tx, deps, due, spending.state)
  await endPayments(
    tx,
    due.flatMap((each) =>
      each.kind === 'failed' ? [{ payment: each.payment, to: 'failed' as const, actor: timer, failure: each.failure }] : [],
    ),
  )
  if (batchId && !sends) await moveBatch(tx, timer, batchId, 'failed')
}

/**
 * Under the locks, once: another process that comes to the same payments afterwards finds that they are not scheduled any more. The time is read
 * behind the locks too, so a clock that was set back sends nothing early.
 */
const execute = async (tx: Tx, deps: DecideDeps, ids: readonly Uuid[], standing: MandateStanding): Promise<void> => {
  const locked = await lockPaymentsWithAccounts(tx, ids)
  const payments = locked
    .filter(({ status, executeAt }) => status === 'scheduled' && executeAt !== null && executeAt <= tx.at)
    .sort((one, other) => (one.batchIndex ?? 0) - (other.batchIndex ?? 0))
  const [first] = payments
  if (!first) return
  const waiting = first.approvalId && (await findApproval(tx, first.approvalId))
  if (waiting && waiting.approval.status === 'pending') {
    const record = await lockApproval(tx, waiting.approval.id)
    return expireApproval(tx, { ...record, payments })
  }
  await executeTogether(tx, deps, payments, standing)
}

const duePayments = prepare(
  'payments.scheduled_due',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm
        .select({
          id: payments.id,
          workspaceId: payments.workspaceId,
          mandateId: payments.mandateId,
          due: dueText(payments.executeAt),
        })
        .from(payments),
      { id: payments.id, due: payments.executeAt },
      at,
      sql`${payments.status} = 'scheduled'`,
      isNull(payments.batchId),
    ),
  'pool',
)
const dueBatches = prepare(
  'payment_batches.scheduled_due',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm.select({ id: paymentBatches.id, due: dueText(paymentBatches.executeAt) }).from(paymentBatches),
      { id: paymentBatches.id, due: paymentBatches.executeAt },
      at,
      sql`${paymentBatches.status} = 'scheduled'`,
    ),
  'pool',
)

/** Decides and sends what is due, each payment and each batch in a transaction of its own, so that one failure stops no other. */
export const executeScheduled = async (
  deps: DecideDeps & Pick<Deps, 'alerts' | 'contractWallets' | 'db' | 'logger'>,
): Promise<void> => {
  const now = deps.clock.now()
  await sweepRows(
    deps,
    'payments.execute',
    100,
    (place, take) => deps.db.run(duePayments, { now, ...place, take }),
    async ({ id, workspaceId, mandateId }) => {
      const standing = await mandateStanding(deps.db, deps.contractWallets, workspaceId, mandateId)
      await inTx(deps.db, (tx) => execute(tx, deps, [id], standing))
    },
  )
  await sweepRows(
    deps,
    'payments.execute',
    20,
    (place, take) => deps.db.run(dueBatches, { now, ...place, take }),
    ({ id }) => inTx(deps.db, async (tx) => execute(tx, deps, await readItemIds(tx, id), 'holds')),
  )
}
