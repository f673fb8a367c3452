import { sql } from 'drizzle-orm'
import { inTx, type Tx } from '../../db/client.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { topups } from '../../db/tables/topups.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { sweepOf } from '../for-each-row.ts'
import { changeTopup, topupEvent } from './outcome.ts'
import { lockTopupWithAccount } from './queries.ts'

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
export const expireTopups = sweepOf(
  'topups.expire',
  {
    id: topups.id,
    due: topups.expiresAt,
    where: [
      sql`${topups.status} = 'pending'`,
      sql`not exists (select from ${suspenseItems} where ${suspenseItems.subjectId} = ${topups.id} and ${suspenseItems.resolvedAt} is null)`,
    ],
  },
  (deps, { id }) => inTx(deps.db, (tx) => expire(tx, id)),
)
