import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Tx } from '../../db/client.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { approvals } from '../../db/tables/approvals.ts'
import { paymentBatches } from '../../db/tables/payment-batches.ts'
import { payments } from '../../db/tables/payments.ts'
import type { Actor } from '../../events/audit.ts'
import { type BalanceMove, moveRequestedTotals } from '../../ledger/count-hours.ts'
import { renewPayers } from './approvals/renew.ts'
import { moveCounters } from './evaluation/counters.ts'

const key = { workspaceId: 'uuid', holder: 'uuid', from: 'uuid' } as const

type Owned = PgTable & { workspaceId: PgColumn; accountId: PgColumn }

const moveScheduled = (table: Owned, name: string, isScheduled: (workspaceId: SQL) => SQL) =>
  prepareWrite(`${name}.follow_balance`, key, (orm, param) =>
    orm
      .update<PgTable>(table)
      .set({ accountId: sql`${param.holder}` })
      .where(and(eq(table.workspaceId, param.workspaceId), eq(table.accountId, param.from), isScheduled(param.workspaceId))),
  )

const moveStatements = [
  moveScheduled(
    approvals,
    'approvals',
    (workspaceId) =>
      sql`${approvals.paymentId} in (select p.id from payments p where p.workspace_id = ${workspaceId} and p.status = 'scheduled')`,
  ),
  moveScheduled(paymentBatches, 'payment_batches', () => sql`${paymentBatches.status} = 'scheduled'`),
  moveScheduled(payments, 'payments', () => sql`${payments.status} = 'scheduled'`),
]

/** Moves counters and scheduled payments, which hold no money yet, to the workspace's new account. Both accounts are locked. */
export const followToOwnBalance = async (tx: Tx, actor: Actor, move: BalanceMove): Promise<void> => {
  await moveCounters(tx, move)
  // Runs before the payments change accounts, because it selects their hourly totals by the old account.
  await moveRequestedTotals(tx, move)
  for (const each of moveStatements) await tx.run(each, move)
  await renewPayers(tx, actor, move.workspaceId)
}
