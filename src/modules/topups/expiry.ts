import { sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { topups } from '../../db/tables/topups.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { sweepRows } from '../for-each-row.ts'
import type { Deps } from './deps.ts'
import { changeTopup, topupEvent } from './outcome.ts'
import { lockTopupWithAccount } from './queries.ts'

const overdue = prepare(
  'topups.overdue',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm.select({ id: topups.id, due: dueText(topups.expiresAt) }).from(topups),
      { id: topups.id, due: topups.expiresAt },
      at,
      sql`${topups.status} = 'pending'`,
      sql`not exists (select from ${suspenseItems} where ${suspenseItems.subjectId} = ${topups.id} and ${suspenseItems.resolvedAt} is null)`,
    ),
  'pool',
)

const expire = async (tx: Tx, id: Uuid): Promise<void> => {
  const topup = await lockTopupWithAccount(tx, id)
  if (topup.status !== 'pending') return
  const { at } = tx
  const expired = changeTopup(tx, topup, { status: 'expired', completedAt: at }, at)
  await appendEvents(tx, [topupEvent('topup.expired', expired)])
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
export const expireTopups = async (deps: Pick<Deps, 'alerts' | 'clock' | 'db' | 'logger'>): Promise<number> => {
  const now = deps.clock.now()
  return sweepRows(
    deps,
    'topups.expire',
    100,
    (place, take) => deps.db.run(overdue, { now, ...place, take }),
    ({ id }) => inTx(deps.db, (tx) => expire(tx, id)),
  )
}
