import { and, eq, isNull, sql } from 'drizzle-orm'
import { prepare } from '../../../../../db/prepare.ts'
import { callbackDeliveries, payments, railAttempts } from '../../../../../db/tables/payments.ts'
import { topups } from '../../../../../db/tables/topups.ts'
import type { Lane, Task } from '../../../../../jobs/lane.ts'
import type { Uuid } from '../../../../../lib/ids.ts'
import { createAccountQueue, mostInBatch } from '../../../../../queue/account-queue.ts'
import { pickFairly } from '../fair.ts'
import type { Subjects } from '../subject.ts'
import { type OpenDelivery, type ProcessDeliveryDeps, processDeliveries, putAsideIfHopeless } from './process.ts'

const openDeliveries = prepare(
  'deliveries.open',
  { taken: 'uuid[]', take: 'rows' },
  (orm, at) =>
    orm
      .select({
        id: callbackDeliveries.id,
        attemptId: railAttempts.id,
        kind: railAttempts.kind,
        subjectId: railAttempts.subjectId,
        tenant: sql<Uuid>`coalesce(${payments.accountId}, ${topups.accountId})`,
        traceparent: sql<string | null>`coalesce(${payments.traceparent}, ${topups.traceparent})`,
        failures: callbackDeliveries.failures,
      })
      .from(callbackDeliveries)
      .innerJoin(railAttempts, eq(railAttempts.id, callbackDeliveries.attemptId))
      .leftJoin(payments, and(sql`${railAttempts.kind} = 'payment'`, eq(payments.id, railAttempts.subjectId)))
      .leftJoin(topups, and(sql`${railAttempts.kind} = 'topup'`, eq(topups.id, railAttempts.subjectId)))
      .where(and(isNull(callbackDeliveries.processedAt), sql`${callbackDeliveries.id} <> all(${at.taken})`))
      .orderBy(callbackDeliveries.receivedAt, callbackDeliveries.id)
      .limit(at.take),
  'pool',
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
    run: () => putAsideIfHopeless(deps.db, deps.logger, row, queue.submit(row.tenant, row, { alone: row.failures > 0 })),
  })
  return {
    name: 'deliveries',
    limit: mostTaken,
    claim: async (room) => {
      await queue.ready()
      const open = await deps.db.run(openDeliveries, { taken: room.except, take: mostTaken })
      const { picked } = pickFairly(open, { ...room, free: Math.min(room.free, mostInBatch) })
      return { tasks: picked.map(taskOf), more: open.length > 0 }
    },
  }
}
