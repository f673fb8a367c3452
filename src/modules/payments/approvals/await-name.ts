import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { lockAccount } from '../../../db/account-lock.ts'
import type { Database } from '../../../db/client.ts'
import { first, inTx } from '../../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Rails } from '../../../rails/rail.ts'
import { sweepRows } from '../../for-each-row.ts'
import type { Deps } from '../deps.ts'
import { renewAtLast } from './renew.ts'

type AwaitDeps = Pick<Deps, 'clock' | 'db' | 'rails'>

const awaitedSeconds = 5
const lookEveryMs = 200

/** Until when readers of a text wait for a name that is being checked for the first time. */
export const awaitedUntil = (at: Date): Date => secondsAfter(at, awaitedSeconds)

const awaited = prepare(
  'approvals.name_awaited',
  { id: 'uuid' },
  (orm, at) =>
    orm
      .select({ until: approvals.nameAwaitedUntil, accountId: approvals.accountId, batchId: approvals.batchId })
      .from(approvals)
      .where(and(eq(approvals.id, at.id), eq(approvals.status, 'pending'), isNotNull(approvals.nameAwaitedUntil))),
  'joined',
)

const endAwaiting = (db: Database, rails: Rails, id: Uuid, accountId: Uuid): Promise<void> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, accountId)
    await renewAtLast(tx, rails, id)
  })

/**
 * Returns when the text of an approval says what the rail reports, five seconds after it was asked for at the latest. It looks again and again,
 * and holds no connection in between. Without a clock that sleeps nobody waits.
 */
export const awaitName = async (deps: AwaitDeps, id: Uuid): Promise<void> => {
  for (;;) {
    const waiting = await first(deps.db, awaited, { id })
    if (!waiting?.until) return
    if (waiting.until > deps.clock.now()) {
      if (!deps.clock.sleep) return
      await deps.clock.sleep(lookEveryMs)
    } else return waiting.batchId === null ? undefined : endAwaiting(deps.db, deps.rails, id, waiting.accountId)
  }
}

const due = prepare(
  'approvals.names_overdue',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm.select({ id: approvals.id, accountId: approvals.accountId, due: dueText(approvals.nameAwaitedUntil) }).from(approvals),
      { id: approvals.id, due: approvals.nameAwaitedUntil },
      at,
      sql`${approvals.status} = 'pending'`,
      isNotNull(approvals.batchId),
    ),
  'pool',
)

/** The batches that nobody has read: their text is made again as well. */
export const renewOverdue = (deps: AwaitDeps & Pick<Deps, 'alerts' | 'logger'>): Promise<void> =>
  sweepRows(
    deps,
    'approvals.renew',
    100,
    (place, take) => deps.db.run(due, { now: deps.clock.now(), ...place, take }),
    ({ id, accountId }) => endAwaiting(deps.db, deps.rails, id, accountId),
  )
