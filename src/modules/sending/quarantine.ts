import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Database, first, inTx } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { callbackDeliveries } from '../../db/tables/payments.ts'
import { audit } from '../../events/audit.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { isTemporary } from '../../lib/errors.ts'
import { findAttempt } from '../attempts/attempt.ts'
import type { Operator } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { recordSuspense } from '../suspense/service.ts'
import type { OpenDelivery } from './process-deliveries.ts'

/** Two minutes, including the pauses between tries: long enough for a temporary failure to end. */
const maxFailures = 8

const countFailure = prepareWrite('deliveries.count_failure', { id: 'uuid' }, (orm, param) =>
  orm
    .update(callbackDeliveries)
    .set({ failures: sql`${callbackDeliveries.failures} + 1` })
    .where(and(eq(callbackDeliveries.id, param.id), isNull(callbackDeliveries.processedAt)))
    .returning({ failures: callbackDeliveries.failures }),
)

/** Quarantines a delivery that keeps failing, with an alert. The rail is still queried. Returns true if it was quarantined. */
const quarantine = (db: Database, delivery: OpenDelivery): Promise<boolean> =>
  inTx(db, async (tx) => {
    const counted = await first(tx, countFailure, { id: delivery.id })
    if (!counted || counted.failures < maxFailures) return false
    const attempt = await findAttempt(tx, { id: delivery.attemptId })
    updateRow(tx, callbackDeliveries, delivery, { verdict: 'unbookable', processedAt: tx.at })
    const { id: deliveryId, attemptId, kind: subjectKind, subjectId } = delivery
    await recordSuspense(tx, {
      rail: attempt?.rail ?? subjectKind,
      attemptId,
      deliveryId,
      subjectKind,
      subjectId,
      direction: subjectKind === 'topup' ? 'in' : 'out',
      reason: 'unbookable_delivery',
      book: false,
    })
    return true
  })

export const quarantineAfterFailures = async (deps: Parts, delivery: OpenDelivery, processing: Promise<void>): Promise<void> => {
  try {
    await processing
  } catch (error) {
    if (isTemporary(error) || !(await quarantine(deps.db, delivery))) throw error
    const { attemptId: attempt, kind: subject, subjectId: id } = delivery
    deps.logger.error({ delivery: delivery.id, attempt, subject, id, ...describeError(error) }, 'callback quarantined')
  }
}

const requeueQuarantined = prepareWrite('deliveries.take_up_again', {}, (orm) =>
  orm
    .update(callbackDeliveries)
    .set({ verdict: null, processedAt: null, failures: 0 })
    .where(sql`${callbackDeliveries.verdict} = 'unbookable'`)
    .returning({ id: callbackDeliveries.id }),
)

export const retryDeliveries = (db: Database, operator: Operator): Promise<number> =>
  inTx(db, async (tx) => {
    const rows = await tx.run(requeueQuarantined, {})
    for (const { id } of rows) audit(tx, operator, 'admin.delivery_retry', { subject: id, after: {} })
    wakeAfterCommit(tx, 'deliveries')
    return rows.length
  })
