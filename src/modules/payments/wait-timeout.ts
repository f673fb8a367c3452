import { isNotNull, sql } from 'drizzle-orm'
import { inTx, statement } from '../../db/client.ts'
import { dueAfter, dueParameters, dueText, idSlack } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { payments } from '../../db/tables/payments.ts'
import { failure } from '../../errors/failures.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { railsDownSince } from '../../rails/gate.ts'
import { type SweepDeps, type SweepPosition, startPosition, sweepRows } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import { releasePayment } from './change.ts'
import { lockPaymentWithAccount } from './queries.ts'

const waiting = prepare('payments.waiting_for_rail', { ...dueParameters, rails: 'text[]' }, 'pool', (orm, param) =>
  dueAfter(
    orm.select({ id: payments.id, due: dueText(payments.updatedAt) }).from(payments),
    { id: payments.id, due: payments.updatedAt },
    param,
    sql`${payments.status} = 'processing'`,
    isNotNull(payments.dispatchDueAt),
    sql`${payments.rail} = any(${param.rails})`,
  ),
)

/** When the rail's last pause after `since` ended, from which its payments' waiting time restarts. Null: there was none. */
export const resumedSql = (rail: string, since: string): string => `(
  select max(l.at) from audit_log l where l.action = 'admin.resume_rail' and lower(l.action) = 'admin.resume_rail'
    and l.id >= first_id_at(${since} - ${idSlack}) and l.at > ${since} and l.after->>'rail' = ${rail})`

/** Rails among `$1` that no operator has paused since `$2`. The waiting time stops during a pause. */
const unpausedRails = statement('rails.not_paused_since')`
  select r.rail from unnest($1::text[]) as r(rail) where not exists (select from rail_pauses p where p.rail = r.rail)
     and ${resumedSql('r.rail', '$2::timestamptz')} is null`

/**
 * Fails payments that have waited longer than PAYMENT_WAIT_MINUTES for a rail that has been down for as long, and alerts at two
 * thirds of that time. Queued payments have no attempt that may have been sent. Payments of a paused rail keep waiting.
 */
export const createWaitTimeoutSweep = (deps: SweepDeps & Pick<Parts, 'config' | 'rails'>): (() => Promise<number>) => {
  const alertedRails = new Set<string>()
  const rowsBefore = (rails: readonly string[], ageSeconds: number, place: SweepPosition, take: number) =>
    deps.db.run(waiting, { rails, now: secondsAfter(deps.clock.now(), -ageSeconds), ...place, take })

  const downFor = async (seconds: number): Promise<string[]> => {
    const start = secondsAfter(deps.clock.now(), -seconds)
    const down = railsDownSince(deps.rails.gates, start)
    if (down.length === 0) return []
    return (await deps.db.query<{ rail: string }>(unpausedRails, [down, start])).map(({ rail }) => rail)
  }

  const alertOnce = async (rail: string, alertSeconds: number) => {
    const [oldest] = await rowsBefore([rail], alertSeconds, startPosition, 1)
    if (!oldest) alertedRails.delete(rail)
    else if (!alertedRails.has(rail)) {
      alertedRails.add(rail)
      deps.alerts.raise('payments_waiting', { subject: rail, id: formatId('payment', oldest.id) })
    }
  }

  return async () => {
    const waitSeconds = deps.config.PAYMENT_WAIT_MINUTES * 60
    const alertSeconds = (waitSeconds * 2) / 3
    const alerting = await downFor(alertSeconds)
    for (const rail of alertedRails) if (!alerting.includes(rail)) alertedRails.delete(rail)
    for (const rail of alerting) await alertOnce(rail, alertSeconds)
    const rails = await downFor(waitSeconds)
    if (rails.length === 0) return 0
    return sweepRows(
      deps,
      { sweep: 'payments.give_up', batch: 100 },
      (place, take) => rowsBefore(rails, waitSeconds, place, take),
      ({ id }) =>
        inTx(deps.db, async (tx) => {
          const payment = await lockPaymentWithAccount(tx, id)
          if (payment.status !== 'processing' || payment.dispatchDueAt === null) return
          const actor = { accountId: null, origin: null, way: 'timer' }
          await releasePayment(tx, payment, { to: 'failed', actor, failure: failure('provider_unreachable') })
        }),
    )
  }
}
