import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { approvals } from '../../db/tables/approvals.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import { type BalanceMove, moveMade } from '../../ledger/hours.ts'
import { moveCounters } from './evaluation/counters.ts'

const key = { workspaceId: 'uuid', holder: 'uuid', from: 'uuid' } as const

const moves = [
  prepareWrite('approvals.follow_balance', key, (orm, param) =>
    orm
      .update(approvals)
      .set({ accountId: sql`${param.holder}` })
      .where(
        and(
          eq(approvals.workspaceId, param.workspaceId),
          eq(approvals.accountId, param.from),
          sql`${approvals.paymentId} in (select p.id from payments p where p.workspace_id = ${param.workspaceId} and p.status = 'scheduled')`,
        ),
      ),
  ),
  prepareWrite('payment_batches.follow_balance', key, (orm, param) =>
    orm
      .update(paymentBatches)
      .set({ accountId: sql`${param.holder}` })
      .where(
        and(
          eq(paymentBatches.workspaceId, param.workspaceId),
          eq(paymentBatches.accountId, param.from),
          sql`${paymentBatches.status} = 'scheduled'`,
        ),
      ),
  ),
  prepareWrite('payments.follow_balance', key, (orm, param) =>
    orm
      .update(payments)
      .set({ accountId: sql`${param.holder}` })
      .where(
        and(
          eq(payments.workspaceId, param.workspaceId),
          eq(payments.accountId, param.from),
          sql`${payments.status} = 'scheduled'`,
        ),
      ),
  ),
]

/**
 * Moves a workspace's counters and scheduled payments to its own balance; scheduled payments hold nothing yet. A payment with a
 * hold is settled where it holds. The caller has locked both accounts, and the workspace already names the new one.
 */
export const followToOwnBalance = async (tx: Tx, move: BalanceMove): Promise<void> => {
  await moveCounters(tx, move)
  // Before the payments change accounts: their hours are counted under the old one.
  await moveMade(tx, move)
  for (const each of moves) await tx.run(each, move)
}
