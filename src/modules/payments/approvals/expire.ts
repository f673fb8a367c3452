import { inTx, statement } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { sweepRows } from '../../for-each-row.ts'
import type { Deps } from '../deps.ts'
import { expireApproval } from './decide.ts'
import { findApproval, lockWhole } from './queries.ts'

const due = statement(
  'approvals.due',
  "select id from approvals where status = 'pending' and expires_at <= $1 and id > $2 order by id limit $3",
)

const expire = (deps: Pick<Deps, 'appendEvents' | 'config' | 'db'>, id: Uuid): Promise<void> =>
  inTx(deps.db, async (tx) => {
    const unlocked = await findApproval(tx, id)
    if (!unlocked) return
    const record = await lockWhole(tx, unlocked)
    if (record.approval.status === 'pending') await expireApproval(tx, deps, record)
  })

/** Expires approvals without a decision in time, each in its own transaction, so that one failure does not stop the others. */
export const expireApprovals = (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db' | 'logger'>,
): Promise<void> =>
  sweepRows(
    deps,
    'approvals.expire',
    100,
    (behind, batch) => deps.db.query<{ id: Uuid }>(due, [deps.clock.now(), behind, batch]),
    ({ id }) => expire(deps, id),
  )
