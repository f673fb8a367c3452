import { inTx, statement, type Tx } from '../../../../db/client.ts'
import type { QueueName } from '../../../../jobs/jobs.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Deps } from '../../../deps.ts'

const graceSeconds = 60
const batchSize = 100

/** No attempt, or none but such as never left and whose next try was asked for a while ago. */
const noAttempt = (subject: string) => `not exists (select from rail_attempts a where a.subject_id = ${subject}
  and (a.state <> 'not_sent' or a.next_check_at is not null or a.updated_at >= $1))`

const waiting: Readonly<Record<QueueName, ReturnType<typeof statement>>> = {
  'payments.dispatch': statement(
    'attempts.forgotten_payments',
    `select p.id from payments p where p.status = 'processing' and p.updated_at < $1
       and ${noAttempt('p.id')} order by p.updated_at limit ${batchSize}`,
  ),
  'topups.dispatch': statement(
    'attempts.forgotten_topups',
    `select t.id from topups t where t.status = 'pending' and t.created_at < $1
       and ${noAttempt('t.id')} order by t.created_at limit ${batchSize}`,
  ),
  'callbacks.process': statement(
    'attempts.forgotten_deliveries',
    `select d.id from callback_deliveries d where d.processed_at is null and d.received_at < $1 order by d.received_at limit ${batchSize}`,
  ),
}

const enqueueForgotten = async (tx: Tx, deps: Deps, queue: QueueName, before: Date): Promise<void> => {
  for (const { id } of await tx.query<{ id: Uuid }>(waiting[queue], [before])) await deps.jobs.enqueue(tx, queue, { id })
}

/** A row is the truth and its job only a wake-up: what waits without one gets another. One too many finds nothing to do. */
export const enqueueWhatWaits = (deps: Deps): Promise<void> =>
  inTx(deps.db, async (tx) => {
    const before = secondsAfter(deps.clock.now(), -graceSeconds)
    for (const queue of Object.keys(waiting) as QueueName[]) await enqueueForgotten(tx, deps, queue, before)
  })
