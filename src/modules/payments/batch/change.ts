import { and, eq, sql } from 'drizzle-orm'
import { statement, type Tx } from '../../../db/client.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { openPaymentsSql, paidPaymentsSql, statesBefore } from '../../../db/transitions.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { groupDigits } from '../../../lib/approval-facts.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount } from '../../../lib/money.ts'
import { quoted } from '../../../lib/text.ts'
import { queueMail } from '../../mail/service.ts'
import { type BatchRecord, type BatchRow, findBatches, presentBatch } from './queries.ts'

type BatchEnd = Exclude<BatchRow['status'], 'scheduled' | 'pending_approval'>

const finish = statement('payment_batches.finish')`
  update payment_batches b set updated_at = $2, completed_at = $2,
     status = case when exists (select from payments p where p.batch_id = b.id and p.status in ${paidPaymentsSql}) then 'completed' else 'failed' end
   where b.id = any($1::uuid[]) and b.status = 'processing'
     and not exists (select from payments p where p.batch_id = b.id and p.status in ${openPaymentsSql})
   returning b.id`
const move = prepareWrite(
  'payment_batches.move',
  { id: 'uuid', to: 'text', at: 'timestamptz', completedAt: 'timestamptz|null', from: 'text[]' },
  (orm, param) =>
    orm
      .update(paymentBatches)
      .set({ status: param.to, updatedAt: param.at, completedAt: param.completedAt })
      .where(and(eq(paymentBatches.id, param.id), sql`${paymentBatches.status} = any(${param.from})`))
      .returning({ id: paymentBatches.id }),
)

/** Emails the batch's requester about failed items. */
const mailFailures = (tx: Tx, { batch, counts }: BatchRecord): void => {
  const { id, workspaceId, initiatorAccountId, name, totalMinor, currency, itemsCount, status } = batch
  const failed = counts.failed ?? 0
  if (failed === 0 || (status !== 'completed' && status !== 'failed')) return
  const shown = formatId('payment_batch', id)
  queueMail(tx, {
    ...{ kind: 'batch_failures', cause: `payment_batch/${id}`, to: [initiatorAccountId], workspaceId },
    ...{ about: { kind: 'payment_batch', id }, path: `/payments/batches/${shown}` },
    values: {
      ...{ name: name === null ? shown : quoted(name), amount: displayAmount(totalMinor, currency) },
      ...{ failed: groupDigits(failed), count: groupDigits(itemsCount) },
    },
  })
}

const publish = async (tx: Tx, actor: Actor, ids: readonly Uuid[]): Promise<void> => {
  const events = (await findBatches(tx, ids)).map((record) => {
    const { id, accountId, workspaceId, status } = record.batch
    const type = `payment_batch.${status as BatchEnd}` as const
    audit(tx, actor, type, { workspaceId, subject: id })
    mailFailures(tx, record)
    return { type, accountId, workspaceId, data: presentBatch(record) }
  })
  await appendEvents(tx, events)
}

/** Ends batches whose items have all ended. Runs after items end. The caller has locked the owning accounts. */
export const finishBatches = async (tx: Tx, ids: readonly Uuid[]): Promise<void> => {
  const ended = (await tx.query<{ id: Uuid }>(finish, [ids, tx.at])).map(({ id }) => id)
  if (ended.length > 0) await publish(tx, { accountId: null, origin: null, way: 'timer' }, ended)
}

/** Call this after starting or ending the items: the event, and the email of an ended batch, contain their counts. */
export const moveBatch = async (tx: Tx, actor: Actor, id: Uuid, to: BatchEnd): Promise<void> => {
  const completedAt = to === 'processing' ? null : tx.at
  const moved = await tx.run(move, { id, to, at: tx.at, completedAt, from: statesBefore('payment_batch', to) })
  if (moved.length === 0) throw new Error(`a batch that is to be ${to} has another state`)
  await publish(tx, actor, [id])
}
