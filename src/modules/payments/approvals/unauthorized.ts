import { sql } from 'drizzle-orm'
import { isNotSent, mayStillRequest } from '../../../auth/authority-sql.ts'
import { holdsLock, lockFurtherAccounts } from '../../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { balanceAccountsSql } from '../../../db/tables/workspaces.ts'
import { isWaiting, waitingPaymentsSql } from '../../../db/transitions.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { forEachRow, type SweepDeps, startPosition } from '../../for-each-row.ts'
import type { OnRequesterLost } from '../../ports.ts'
import { moveBatch } from '../batch/change.ts'
import { endPayments } from '../change.ts'
import { lockPaymentsWithAccounts } from '../queries.ts'
import { unrequested } from '../recheck.ts'
import { cancelApproval, endOfAuthority } from './end.ts'

const readOwners = prepare('payments.balances_of_workspaces', { workspaceIds: 'uuid[]' }, (orm, param) =>
  orm
    .selectDistinct({ id: sql<Uuid>`holder.id` })
    .from(sql`workspaces w cross join lateral ${sql.raw(balanceAccountsSql('w'))} as holder(id)`)
    .where(sql`w.id = any(${param.workspaceIds})`),
)
const readUnauthorized = statement('payments.unauthorized')`
  select p.id from payments p where p.workspace_id = any($1::uuid[]) and p.status in ('scheduled', 'pending_approval', 'processing')
     and p.initiator_account_id = $2 and p.account_id = any($3::uuid[]) and ${isNotSent('p')} and not ${mayStillRequest('p', '$4')} order by p.id`

/** Adds the other waiting items of each batch, because a batch ends as a whole. */
const readBatchMates = statement('payments.whole_batches')`
  select id from payments where id = any($1::uuid[])
   union select q.id from payments p join payments q on q.batch_id = p.batch_id
   where p.id = any($1::uuid[]) and p.status in ${waitingPaymentsSql} and q.status = p.status`

/** Ends unsent payments. The caller has locked the paying accounts. */
const endWithBatches = async (tx: Tx, actor: Actor, rows: readonly { id: Uuid }[]): Promise<void> => {
  if (rows.length === 0) return
  const ids = (await tx.query<{ id: Uuid }>(readBatchMates, [rows.map(({ id }) => id)])).map(({ id }) => id)
  const payments = await lockPaymentsWithAccounts(tx, ids)
  const ended = await endPayments(
    tx,
    payments.map((payment) =>
      isWaiting(payment.status)
        ? { payment, to: 'cancelled', actor }
        : { payment, to: 'failed', actor, failure: unrequested.failure },
    ),
  )
  const cancelled = ended.filter(({ status }) => status === 'cancelled')
  for (const batchId of new Set(cancelled.flatMap((payment) => payment.batchId ?? [])))
    await moveBatch(tx, actor, batchId, 'cancelled')
  for (const payment of new Map(cancelled.map((one) => [one.approvalId, one])).values()) await cancelApproval(tx, actor, payment)
}

/**
 * Cancels waiting payments, and fails payments about to be sent, if their requester lost the right to request them. Skips
 * payments of accounts that were not locked first: transaction ids order events, so an account locked after the first write could
 * publish an older event later. The sweep and the check before sending end those payments.
 */
export const endUnauthorizedPayments: OnRequesterLost = async (tx, actor, { accountId, workspaceIds }) => {
  const owners = (await tx.run(readOwners, { workspaceIds })).map(({ id }) => id)
  const locked = owners.filter((owner) => holdsLock(tx, owner))
  // Waits for checks of the other accounts' payments. Later checks, and claims of the right to send, read this change.
  await lockFurtherAccounts(tx, ...owners)
  await endWithBatches(tx, actor, await tx.query<{ id: Uuid }>(readUnauthorized, [workspaceIds, accountId, locked, tx.at]))
}

const scans = {
  approvals: statement('payments.waiting_for_approval')`
  select w.due::text as due, w.id, p.id as "paymentId", not ${mayStillRequest('p', '$4')} as "isUnauthorized"
     from (select expires_at as due, id, payment_id from approvals where status = 'pending' and (expires_at, id) > ($1::timestamptz, $2::uuid)
       order by expires_at, id limit $3) w left join payments p on p.id = w.payment_id order by w.due, w.id`,
  scheduled: statement('payments.waiting_for_time')`
  select p.execute_at::text as due, p.id, p.id as "paymentId", not ${mayStillRequest('p', '$4')} as "isUnauthorized"
     from (select * from payments where status = 'scheduled' and (execute_at, id) > ($1::timestamptz, $2::uuid)
       order by execute_at, id limit $3) p order by p.execute_at, p.id`,
}
type Waiting = { due: string; id: Uuid; paymentId: Uuid | null; isUnauthorized: boolean | null }
const readIfUnauthorized = statement('payments.is_unauthorized')`
  select p.id from payments p where p.id = $1 and p.status in ${waitingPaymentsSql} and not ${mayStillRequest('p', '$2')}`

const pageSize = 100
/** Maximum rows per run and kind; the next run continues after them. A delay is harmless: sending checks every payment again. */
const maxInRun = 500

export const createUnauthorizedSweep = (deps: SweepDeps): (() => Promise<void>) => {
  const positions = { approvals: startPosition, scheduled: startPosition }
  const cancel = ({ id }: { id: Uuid }) =>
    inTx(deps.db, async (tx) => {
      await lockPaymentsWithAccounts(tx, [id])
      await endWithBatches(tx, endOfAuthority, await tx.query<{ id: Uuid }>(readIfUnauthorized, [id, tx.at]))
    })
  const endUnauthorized = async (kind: keyof typeof scans) => {
    for (let seen = 0, full = true; full && seen < maxInRun; seen += pageSize) {
      const { since, behind } = positions[kind]
      const rows = await deps.db.query<Waiting>(scans[kind], [since, behind, pageSize, deps.clock.now()])
      const toEnd = rows.flatMap(({ paymentId, isUnauthorized }) => (isUnauthorized && paymentId ? [{ id: paymentId }] : []))
      await forEachRow(deps, 'payments.unauthorized', toEnd, cancel)
      const last = rows.at(-1)
      full = rows.length === pageSize
      positions[kind] = full && last ? { since: last.due, behind: last.id } : startPosition
    }
  }
  return async () => {
    await endUnauthorized('approvals')
    await endUnauthorized('scheduled')
  }
}
