import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/client.ts'
import { inTx } from '../../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { sweepRows } from '../../for-each-row.ts'
import type { Deps } from '../deps.ts'
import { expireApproval } from './decide.ts'
import { lockWhole } from './lock.ts'
import { findApproval } from './queries.ts'

const due = prepare(
  'approvals.due',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm.select({ id: approvals.id, due: dueText(approvals.expiresAt) }).from(approvals),
      { id: approvals.id, due: approvals.expiresAt },
      at,
      sql`${approvals.status} = 'pending'`,
    ),
  'pool',
)

const expire = (db: Database, id: Uuid): Promise<void> =>
  inTx(db, async (tx) => {
    const unlocked = await findApproval(tx, id)
    if (!unlocked) return
    const record = await lockWhole(tx, unlocked)
    if (record.approval.status === 'pending') await expireApproval(tx, record)
  })

/** Expires approvals without a decision in time, each in its own transaction, so that one failure does not stop the others. */
export const expireApprovals = (deps: Pick<Deps, 'alerts' | 'clock' | 'db' | 'logger'>): Promise<void> =>
  sweepRows(
    deps,
    'approvals.expire',
    100,
    (place, take) => deps.db.run(due, { now: deps.clock.now(), ...place, take }),
    ({ id }) => expire(deps.db, id),
  )
