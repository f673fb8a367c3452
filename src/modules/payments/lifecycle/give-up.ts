import { isNotNull, sql } from 'drizzle-orm'
import { inTx } from '../../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { payments } from '../../../db/tables/payments.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { failure } from '../../../lib/failure-codes.ts'
import { railsDown } from '../../../rails/gate.ts'
import { sweepRows } from '../../for-each-row.ts'
import type { Deps } from '../deps.ts'
import { lockPaymentWithAccount } from '../queries.ts'
import { longestWaitSeconds } from './attempts/schedule.ts'
import { releasePayment } from './end.ts'

const waiting = prepare(
  'payments.waiting_for_rail',
  { ...duePlaces, rails: 'text[]' },
  (orm, at) =>
    dueBehind(
      orm.select({ id: payments.id, due: dueText(payments.updatedAt) }).from(payments),
      { id: payments.id, due: payments.updatedAt },
      at,
      sql`${payments.status} = 'processing'`,
      isNotNull(payments.dispatchDueAt),
      sql`${payments.rail} = any(${at.rails})`,
    ),
  'pool',
)

/**
 * Fails payments that have waited too long for a rail that is down. They are in the queue, so no attempt of theirs may have been sent.
 * Payments of a rail that an operator paused keep waiting: the operator decides when that ends.
 */
export const giveUpWaiting = async (deps: Pick<Deps, 'alerts' | 'clock' | 'db' | 'logger' | 'rails'>): Promise<void> => {
  const rails = Object.keys(railsDown(deps.rails.gates))
  if (rails.length === 0) return
  const before = secondsAfter(deps.clock.now(), -longestWaitSeconds)
  await sweepRows(
    deps,
    'payments.give_up',
    100,
    (place, take) => deps.db.run(waiting, { rails, now: before, ...place, take }),
    ({ id }) =>
      inTx(deps.db, async (tx) => {
        const payment = await lockPaymentWithAccount(tx, id)
        if (payment.status !== 'processing' || payment.dispatchDueAt === null) return
        const actor = { accountId: null, origin: null, way: 'timer' }
        await releasePayment(tx, payment, { to: 'failed', actor, failure: failure('provider_unreachable') })
      }),
  )
}
