import { and, eq, isNull } from 'drizzle-orm'
import { inTx, statement, type Tx } from '../../../../db/client.ts'
import { describeError } from '../../../../db/errors.ts'
import { callbackDeliveries } from '../../../../db/tables/payments.ts'
import { audit } from '../../../../events/audit.ts'
import { Refusal } from '../../../../lib/errors.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { continueTrace } from '../../../../lib/tracing.ts'
import { parseJson } from '../../../../rails/json.ts'
import type { Delivery, DeliveryKind, ProviderReference } from '../../../../rails/rail.ts'
import { alertAfterCommit } from '../../../alerts.ts'
import type { Deps } from '../../../deps.ts'
import type { Operator } from '../../../operators.ts'
import { recordSuspense } from '../../../suspense/service.ts'
import { type DeliveryVerdict, deliveryContext } from './deliveries.ts'
import { applyEvidence, type OpenAttempt, openAttempt } from './evidence.ts'
import { type AttemptRecord, adoptProvider, findAttempt } from './queries.ts'
import { railOf } from './rail-of.ts'
import type { Subjects } from './subject.ts'

type ProcessDeliveryDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'config' | 'db' | 'logger' | 'rails' | 'vault'>

/** A delivery that is not processed yet, and its payment or top-up. */
export type OpenDelivery = {
  id: Uuid
  tenant: Uuid
  attemptId: Uuid
  kind: AttemptRecord['kind']
  subjectId: Uuid
  traceparent: string | null
}

const differs = (one: string | null, other: string | null): boolean => one !== null && other !== null && one !== other

/** Whether it names a different request than the one that the provider accepted for this attempt. */
const namesAnother = (provider: ProviderReference, attempt: AttemptRecord): boolean =>
  differs(provider.request, attempt.providerRequest) || differs(provider.conversation, attempt.providerConversation)

const judge = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts'>,
  open: OpenAttempt,
  { evidence, provider }: Delivery,
): Promise<DeliveryVerdict> => {
  const { attempt } = open
  if (evidence.kind === 'unknown' && evidence.code === 'other_request') return 'other_request'
  if (namesAnother(provider, attempt)) {
    const facts = { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code: 'other_request' }
    alertAfterCommit(tx, deps, 'evidence_mismatch', facts)
    return 'mismatch'
  }
  await adoptProvider(tx, attempt.id, provider)
  return applyEvidence(tx, deps, open, evidence, { kind: 'delivery' })
}

/** Processed once: a second run, in any process, finds it processed under the same locks. */
const processOpen = (deps: ProcessDeliveryDeps, subjects: Subjects, pending: OpenDelivery): Promise<void> =>
  inTx(deps.db, async (tx) => {
    const open = await openAttempt(tx, deps, subjects[pending.kind], { id: pending.attemptId, subjectId: pending.subjectId })
    const { attempt } = open
    const [delivery] = await tx.orm
      .select()
      .from(callbackDeliveries)
      .where(and(eq(callbackDeliveries.id, pending.id), isNull(callbackDeliveries.processedAt)))
      .for('update')
    if (!delivery?.bodyCiphertext || !delivery.bodyKeyId) return
    const rail = railOf(deps.rails, attempt.rail)
    if (!rail) throw new Error('the rail of a delivery is no longer configured')
    const sealed = { ciphertext: delivery.bodyCiphertext, keyId: delivery.bodyKeyId }
    const body = parseJson(deps.vault.open(sealed, deliveryContext(pending.id)))
    const kind: DeliveryKind = delivery.kind === 'timeout' ? 'timeout' : 'result'
    const verdict = await judge(tx, deps, open, rail.readDelivery(kind, body, attempt))
    await tx.orm.update(callbackDeliveries).set({ verdict, processedAt: tx.at }).where(eq(callbackDeliveries.id, pending.id))
    const facts = { delivery: pending.id, attempt: attempt.id, subject: pending.subjectId, verdict }
    tx.afterCommit(() => deps.logger.info(facts, 'a delivery was processed'))
  })

/** With the pauses between tries this is two minutes: long enough for a failure that ends by itself. */
const mostFailures = 8

const countFailure = statement(
  'deliveries.count_failure',
  'update callback_deliveries set failures = failures + 1 where id = $1 and processed_at is null returning failures, kind',
)

/**
 * A delivery that keeps failing is put aside for a person, with an alert: endless tries would be visible only in the log. The rail is still
 * queried about its attempt, so another answer of the provider may end it. Returns true when it was put aside.
 */
const putAside = (deps: Pick<Deps, 'alerts' | 'db'>, pending: OpenDelivery): Promise<boolean> =>
  inTx(deps.db, async (tx) => {
    const [counted] = await tx.query<{ failures: number }>(countFailure, [pending.id])
    if (!counted || counted.failures < mostFailures) return false
    const attempt = await findAttempt(tx, pending.attemptId)
    await tx.orm
      .update(callbackDeliveries)
      .set({ verdict: 'unbookable', processedAt: tx.at })
      .where(eq(callbackDeliveries.id, pending.id))
    await recordSuspense(tx, deps, {
      rail: attempt?.rail ?? pending.kind,
      direction: pending.kind === 'topup' ? 'in' : 'out',
      reason: 'unbookable_delivery',
      attemptId: pending.attemptId,
      deliveryId: pending.id,
      subject: { kind: pending.kind, id: pending.subjectId },
      book: false,
      at: tx.at,
    })
    return true
  })

/** An unavailable database is not counted as a failure of the delivery. */
const isDeliveryFailure = (error: unknown): boolean => !(error instanceof Refusal && error.code === 'unavailable')

const processOrPutAside = async (deps: ProcessDeliveryDeps, subjects: Subjects, pending: OpenDelivery): Promise<void> => {
  try {
    await processOpen(deps, subjects, pending)
  } catch (error) {
    if (!isDeliveryFailure(error) || !(await putAside(deps, pending))) throw error
    deps.logger.error({ delivery: pending.id, attempt: pending.attemptId, ...describeError(error) }, 'a delivery was put aside')
  }
}

const takeUpAgain = statement(
  'deliveries.take_up_again',
  `update callback_deliveries set verdict = null, processed_at = null, failures = 0 where verdict = 'unbookable' returning id`,
)

/** Processes again what was put aside, after its cause was removed. */
export const retryDeliveries = (deps: Pick<Deps, 'db' | 'jobs'>, operator: Operator): Promise<number> =>
  inTx(deps.db, async (tx) => {
    const rows = await tx.query<{ id: Uuid }>(takeUpAgain)
    for (const { id } of rows)
      await audit(tx, operator, tx.at, { action: 'admin.delivery_retry', subject: { type: 'delivery', id }, after: {} })
    tx.afterCommit(() => deps.jobs.wake('deliveries'))
    return rows.length
  })

/** Processes a delivery once, in the trace of the request that created its payment. */
export const processDelivery = (deps: ProcessDeliveryDeps, subjects: Subjects, pending: OpenDelivery): Promise<void> =>
  continueTrace(pending.traceparent, 'job deliveries', { delivery: pending.id, subject: pending.subjectId }, () =>
    processOrPutAside(deps, subjects, pending),
  )
