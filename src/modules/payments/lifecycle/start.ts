import type { Tx } from '../../../db/client.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRecord } from '../queries.ts'
import { writeChange } from './write-change.ts'

/** Starts an approved payment: the row itself is the queue entry. */
export const startPayment = (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'jobs'>,
  payment: PaymentRecord,
): Promise<PaymentRecord> => {
  tx.afterCommit(() => deps.jobs.wake('payments', [payment.rail]))
  return writeChange(
    tx,
    deps,
    payment,
    { status: 'processing', dispatchDueAt: tx.at },
    { actor: { accountId: null, origin: null, way: 'approval' } },
  )
}
