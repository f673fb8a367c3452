import { inTx, statement, type Tx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { sweepRows } from '../for-each-row.ts'
import type { Deps } from './deps.ts'
import { changeTopup, topupEvent } from './outcome.ts'
import { lockTopupWithAccount } from './queries.ts'

const overdue = statement(
  'topups.overdue',
  `select t.id from topups t where t.status = 'pending' and t.expires_at <= $1 and t.id > $2
     and not exists (select from suspense_items s where s.subject_id = t.id and s.resolved_at is null) order by t.id limit $3`,
)

const expire = async (tx: Tx, deps: Pick<Deps, 'appendEvents'>, id: Uuid): Promise<void> => {
  const topup = await lockTopupWithAccount(tx, id)
  if (topup.status !== 'pending') return
  const { at } = tx
  const expired = changeTopup(tx, topup, { status: 'expired', completedAt: at }, at)
  await deps.appendEvents(tx, at, [topupEvent('topup.expired', expired)])
  await audit(tx, { accountId: null, origin: null, way: 'timer' }, at, {
    action: 'topup.expired',
    workspaceId: topup.workspaceId,
    subject: { type: 'topup', id },
    before: { status: topup.status },
    after: { status: expired.status },
  })
}

/**
 * Ends the waiting only: a success that is proven later is credited all the same. What was paid with another amount is in suspense: until a
 * person has decided, the top-up has not expired.
 */
export const expireTopups = async (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db' | 'logger'>,
): Promise<void> => {
  const now = deps.clock.now()
  await sweepRows(
    deps,
    'topups.expire',
    100,
    (behind, batch) => deps.db.query<{ id: Uuid }>(overdue, [now, behind, batch]),
    ({ id }) => inTx(deps.db, (tx) => expire(tx, deps, id)),
  )
}
