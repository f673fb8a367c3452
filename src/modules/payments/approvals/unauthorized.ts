import { sql } from 'drizzle-orm'
import { isNotSent, mayStillRequest } from '../../../auth/authority-sql.ts'
import { holdsLock, lockFurtherAccounts } from '../../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import { prepare } from '../../../db/prepare.ts'
import { workspaces } from '../../../db/tables/workspaces.ts'
import { isWaiting, waitingPaymentsSql } from '../../../db/transitions.ts'
import type { Actor } from '../../../events/audit.ts'
import { failure } from '../../../lib/failure-codes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { sweepRows } from '../../for-each-row.ts'
import { moveBatch } from '../batch/change.ts'
import type { Deps } from '../deps.ts'
import { endPayments } from '../lifecycle/end.ts'
import { lockPaymentsWithAccounts } from '../queries.ts'
import { cancelApproval } from './end.ts'

/** Whose right to ask for payments may have ended, and where. */
export type Requester = { accountId: Uuid; workspaceIds: readonly Uuid[] }

const readOwners = prepare('payments.owners_of_workspaces', { workspaceIds: 'uuid[]' }, (orm, at) =>
  orm.selectDistinct({ id: workspaces.owningAccountId }).from(workspaces).where(sql`${workspaces.id} = any(${at.workspaceIds})`),
)
const readUnauthorized = statement(
  'payments.unauthorized',
  `select p.id from payments p where p.workspace_id = any($1::uuid[]) and p.status in ('scheduled', 'pending_approval', 'processing')
     and p.initiator_account_id = $2 and p.account_id = any($3::uuid[]) and ${isNotSent('p')} and not ${mayStillRequest('p')} order by p.id`,
)

/** A batch waits as a whole, so it ends as a whole. */
const readWhole = statement(
  'payments.whole_batches',
  `select id from payments where id = any($1::uuid[])
   union select q.id from payments p join payments q on q.batch_id = p.batch_id
   where p.id = any($1::uuid[]) and p.status in ${waitingPaymentsSql} and q.status = p.status`,
)

/** The caller has locked the owning accounts, and these payments are not sent. */
const endUnsent = async (tx: Tx, actor: Actor, ids: readonly Uuid[]): Promise<void> => {
  if (ids.length === 0) return
  const whole = await tx.query<{ id: Uuid }>(readWhole, [plainList(ids)])
  const payments = await lockPaymentsWithAccounts(
    tx,
    whole.map(({ id }) => id),
  )
  const lost = failure('policy_changed', null, 'Who asked for the payment may no longer ask for it.')
  const ended = await endPayments(
    tx,
    payments.map((payment) =>
      isWaiting(payment.status)
        ? { payment, to: 'cancelled', actor }
        : { payment: { ...payment, dispatchDueAt: null }, to: 'failed', actor, failure: lost },
    ),
  )
  const cancelled = ended.filter(({ status }) => status === 'cancelled')
  for (const batchId of new Set(cancelled.flatMap((payment) => payment.batchId ?? [])))
    await moveBatch(tx, actor, batchId, 'cancelled')
  for (const payment of new Map(cancelled.map((one) => [one.approvalId, one])).values()) await cancelApproval(tx, actor, payment)
}

/**
 * Ends what a requester asked for and may no longer ask for: what waits for an approval is cancelled, what is about to be sent fails. Runs
 * after a membership ended or changed, or grants were revoked. Where the transaction locked the paying account with its first lock; elsewhere
 * it only makes a payment that is being sent now come first, the check before sending refuses the others, and the sweep ends them: an account
 * that is locked late must not move money, or its events would be out of order.
 */
export const endUnauthorizedPayments = async (tx: Tx, actor: Actor, { accountId, workspaceIds }: Requester): Promise<void> => {
  const owners = (await tx.run(readOwners, { workspaceIds })).map(({ id }) => id)
  const locked = owners.filter((owner) => holdsLock(tx, owner))
  await lockFurtherAccounts(tx, ...owners)
  const rows = await tx.query<{ id: Uuid }>(readUnauthorized, [plainList(workspaceIds), accountId, plainList(locked)])
  await endUnsent(
    tx,
    actor,
    rows.map(({ id }) => id),
  )
}

const due = statement(
  'payments.unauthorized_waiting',
  `select p.id from approvals a join payments p on p.id = a.payment_id
   where a.status = 'pending' and p.id > $1 and not ${mayStillRequest('p')}
   union select p.id from payments p where p.status = 'scheduled' and p.id > $1 and not ${mayStillRequest('p')} order by id limit $2`,
)
const isDue = statement(
  'payments.is_unauthorized',
  `select p.id from payments p where p.id = $1 and p.status in ${waitingPaymentsSql} and not ${mayStillRequest('p')}`,
)

/** Cancels what still waits for an approval or for its time although its requester may no longer ask for it. */
export const cancelUnauthorized = (deps: Pick<Deps, 'alerts' | 'db' | 'logger'>): Promise<void> =>
  sweepRows(
    deps,
    'payments.unauthorized',
    100,
    (behind, batch) => deps.db.query<{ id: Uuid }>(due, [behind, batch]),
    ({ id }) =>
      inTx(deps.db, async (tx) => {
        await lockPaymentsWithAccounts(tx, [id])
        const rows = await tx.query<{ id: Uuid }>(isDue, [id])
        const actor = { accountId: null, origin: null, way: 'end_of_authority' }
        await endUnsent(
          tx,
          actor,
          rows.map((row) => row.id),
        )
      }),
  )
