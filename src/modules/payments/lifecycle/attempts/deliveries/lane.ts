import { statement } from '../../../../../db/client.ts'
import type { Lane, Task } from '../../../../../jobs/lane.ts'
import { createAccountQueue, mostInBatch } from '../../../../../queue/account-queue.ts'
import { pickFairly } from '../fair.ts'
import type { Subjects } from '../subject.ts'
import { type OpenDelivery, type ProcessDeliveryDeps, processDeliveries, putAsideIfHopeless } from './process.ts'

const openDeliveries = statement(
  'deliveries.open',
  `select d.id, d.attempt_id as "attemptId", a.kind, a.subject_id as "subjectId", coalesce(p.account_id, t.account_id) as tenant,
     coalesce(p.traceparent, t.traceparent) as traceparent, d.failures
   from callback_deliveries d join rail_attempts a on a.id = d.attempt_id
     left join payments p on a.kind = 'payment' and p.id = a.subject_id left join topups t on a.kind = 'topup' and t.id = a.subject_id
   where d.processed_at is null and d.id <> all($1::uuid[]) order by d.received_at, d.id limit $2`,
)

/** Deliveries that are read and not processed yet. They need no connection until their batch begins. */
const mostTaken = 256

/**
 * Deliveries are processed through a queue of accounts: those that arrive while a batch is under way form the next one. One that has failed is
 * never in a batch with others again.
 */
export const createDeliveriesLane = (deps: ProcessDeliveryDeps, subjects: Subjects): Lane => {
  const queue = createAccountQueue<OpenDelivery, void>({
    name: 'deliveries',
    logger: deps.logger,
    work: (batch, wait) => processDeliveries(deps, subjects, batch, wait),
    mostShared: 1,
    mostWaiting: 3,
  })
  const taskOf = (row: OpenDelivery): Task => ({
    key: row.id,
    tenant: row.tenant,
    run: () => putAsideIfHopeless(deps, row, queue.submit(row.tenant, row, { alone: row.failures > 0 })),
  })
  return {
    name: 'deliveries',
    limit: mostTaken,
    claim: async (room) => {
      await queue.ready()
      const open = await deps.db.query<OpenDelivery>(openDeliveries, [room.except, mostTaken])
      const { picked } = pickFairly(open, { ...room, free: Math.min(room.free, mostInBatch) })
      return { tasks: picked.map(taskOf), more: open.length > 0 }
    },
  }
}
