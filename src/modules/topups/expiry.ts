import { inTx, statement, type Tx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import { lockBalance } from '../../ledger/ledger.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { changeTopup, topupEvent } from './outcome.ts'
import { getTopup } from './queries.ts'

const batchSize = 100

const overdue = statement(
  'topups.overdue',
  `select id, account_id as "accountId" from topups where status = 'pending' and created_at <= $1 order by created_at limit ${batchSize}`,
)

const expire = async (tx: Tx, deps: Deps, { id, accountId }: { id: Uuid; accountId: Uuid }): Promise<void> => {
  await lockBalance(tx, accountId)
  const topup = await getTopup(tx, id)
  if (topup.status !== 'pending') return
  const { at } = tx
  const expired = await changeTopup(tx, topup, { status: 'expired', completedAt: at }, at)
  await deps.appendEvents(tx, at, [topupEvent('topup.expired', expired)])
  await audit(tx, { accountId: null, origin: null, way: 'timer' }, at, {
    action: 'topup.expired',
    workspaceId: topup.workspaceId,
    subject: { type: 'topup', id },
    before: { status: topup.status },
    after: { status: expired.status },
  })
}

/** Ends the waiting, not the money: a success that is proven later is credited all the same. */
export const expireTopups = async (deps: Deps): Promise<void> => {
  const before = secondsAfter(deps.clock.now(), -deps.config.TOPUP_TTL_SECONDS)
  for (let full = true; full; ) {
    const due = await deps.db.query<{ id: Uuid; accountId: Uuid }>(overdue, [before])
    full = due.length === batchSize
    for (const topup of due) await inTx(deps.db, (tx) => expire(tx, deps, topup))
  }
}
