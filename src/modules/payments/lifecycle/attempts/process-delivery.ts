import { and, eq, isNull } from 'drizzle-orm'
import { inTx, type Tx } from '../../../../db/client.ts'
import { callbackDeliveries } from '../../../../db/tables/payments.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { continueTrace } from '../../../../lib/tracing.ts'
import { parseJson } from '../../../../rails/json.ts'
import type { Delivery, DeliveryKind, ProviderReference } from '../../../../rails/rail.ts'
import { alertAfterCommit } from '../../../alerts.ts'
import type { Deps } from '../../../deps.ts'
import { type DeliveryVerdict, deliveryContext } from './deliveries.ts'
import { applyEvidence, type OpenAttempt, openAttempt } from './evidence.ts'
import { type AttemptRecord, adoptProvider } from './queries.ts'
import { railOf } from './rail-of.ts'
import type { Subjects } from './subject.ts'

type ProcessDeliveryDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'config' | 'db' | 'logger' | 'rails' | 'vault'>

/** A delivery that is not processed yet, and what it is about. */
export type OpenDelivery = {
  id: Uuid
  tenant: Uuid
  attemptId: Uuid
  kind: AttemptRecord['kind']
  subjectId: Uuid
  traceparent: string | null
}

const differs = (one: string | null, other: string | null): boolean => one !== null && other !== null && one !== other

/** Whether it names another request than the one that this attempt is known by. */
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

/** Once: a second run, by whichever process, finds it processed under the same locks. */
const processOpen = (deps: ProcessDeliveryDeps, subjects: Subjects, found: OpenDelivery): Promise<void> =>
  inTx(deps.db, async (tx) => {
    const open = await openAttempt(tx, deps, subjects[found.kind], { id: found.attemptId, subjectId: found.subjectId })
    const { attempt } = open
    const [delivery] = await tx.orm
      .select()
      .from(callbackDeliveries)
      .where(and(eq(callbackDeliveries.id, found.id), isNull(callbackDeliveries.processedAt)))
      .for('update')
    if (!delivery?.bodyCiphertext || !delivery.bodyKeyId) return
    const rail = railOf(deps.rails, attempt.rail)
    if (!rail) throw new Error('the rail of a delivery is no longer configured')
    const sealed = { ciphertext: delivery.bodyCiphertext, keyId: delivery.bodyKeyId }
    const body = parseJson(deps.vault.open(sealed, deliveryContext(found.id)))
    const kind: DeliveryKind = delivery.kind === 'timeout' ? 'timeout' : 'result'
    const verdict = await judge(tx, deps, open, rail.readDelivery(kind, body, attempt))
    await tx.orm.update(callbackDeliveries).set({ verdict, processedAt: tx.at }).where(eq(callbackDeliveries.id, found.id))
    const facts = { delivery: found.id, attempt: attempt.id, subject: found.subjectId, verdict }
    tx.afterCommit(() => deps.logger.info(facts, 'a delivery was processed'))
  })

/** Processes a delivery once, in the trace of the request that it is the end of. */
export const processDelivery = (deps: ProcessDeliveryDeps, subjects: Subjects, found: OpenDelivery): Promise<void> =>
  continueTrace(found.traceparent, 'job deliveries', { delivery: found.id, subject: found.subjectId }, () =>
    processOpen(deps, subjects, found),
  )
