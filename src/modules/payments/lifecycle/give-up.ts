import { inTx, statement } from '../../../db/client.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { failure } from '../../../lib/failure-codes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { railsDown } from '../../../rails/gate.ts'
import { sweepRows } from '../../for-each-row.ts'
import type { Deps } from '../deps.ts'
import { lockPaymentWithAccount } from '../queries.ts'
import { longestWaitSeconds } from './attempts/schedule.ts'
import { releasePayment } from './end.ts'

const waiting = statement(
  'payments.waiting_for_rail',
  `select id from payments where dispatch_due_at is not null and rail = any($1::text[]) and updated_at < $2 and id > $3 order by id limit $4`,
)

/**
 * Fails payments that have waited too long for a rail that is down. They are in the queue, so no attempt of theirs may have been sent.
 * Payments of a rail that an operator paused keep waiting: the operator decides when that ends.
 */
export const giveUpWaiting = async (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db' | 'logger' | 'rails'>,
): Promise<void> => {
  const rails = Object.keys(railsDown(deps.rails.gates))
  if (rails.length === 0) return
  const before = secondsAfter(deps.clock.now(), -longestWaitSeconds)
  await sweepRows(
    deps,
    'payments.give_up',
    100,
    (behind, batch) => deps.db.query<{ id: Uuid }>(waiting, [rails, before, behind, batch]),
    ({ id }) =>
      inTx(deps.db, async (tx) => {
        const payment = await lockPaymentWithAccount(tx, id)
        if (payment.status !== 'processing' || payment.dispatchDueAt === null) return
        const actor = { accountId: null, origin: null, way: 'timer' }
        await releasePayment(tx, deps, payment, { to: 'failed', actor, failure: failure('provider_unreachable') })
      }),
  )
}
