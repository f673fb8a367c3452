import type { Tx } from '../../../db/client.ts'
import { wakeAfterCommit } from '../../../jobs/jobs.ts'
import type { PaymentRecord } from '../queries.ts'
import { writeChanges } from './write-change.ts'

/** Starts approved payments: each row itself is a queue entry. */
export const startPayments = async (tx: Tx, payments: readonly PaymentRecord[]): Promise<PaymentRecord[]> => {
  if (payments.length === 0) return []
  wakeAfterCommit(tx, 'payments', [...new Set(payments.map(({ rail }) => rail))])
  return writeChanges(
    tx,
    payments.map((payment) => ({
      payment,
      change: { status: 'processing', dispatchDueAt: tx.at },
      options: { actor: { accountId: null, origin: null, way: 'approval' } },
    })),
  )
}
