import { inTx } from '../../../db/client.ts'
import { lockBalance } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { lockPayment } from '../queries.ts'
import { expireApproval } from './decide.ts'
import { findApproval, lockApproval } from './queries.ts'

const due = "select id from approvals where status = 'pending' and expires_at <= $1 order by expires_at limit 100"

/** Expires what nobody decided in time, each in its own transaction: one that fails holds up none of the others. */
export const expireApprovals = async (deps: Deps): Promise<void> => {
  const rows = await deps.db.query<{ id: Uuid }>(due, [deps.clock.now()])
  for (const { id } of rows) {
    await inTx(deps.db, async (tx) => {
      const unlocked = await findApproval(tx, id)
      if (!unlocked) return
      await lockBalance(tx, unlocked.payment.accountId)
      await lockPayment(tx, unlocked.payment.id)
      const record = await lockApproval(tx, id)
      if (record.approval.status === 'pending') await expireApproval(tx, deps, record)
    })
  }
}
