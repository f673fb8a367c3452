import { and, eq, isNull } from 'drizzle-orm'
import { inTx, statement, type Tx } from '../../../../db/client.ts'
import { pruneInBatches } from '../../../../db/prune.ts'
import { callbackDeliveries } from '../../../../db/tables/payments.ts'
import { daysAfter } from '../../../../lib/clock.ts'
import { newId, type Uuid } from '../../../../lib/ids.ts'
import { parseJson } from '../../../../rails/json.ts'
import type { Delivery, DeliveryKind, ProviderReference } from '../../../../rails/rail.ts'
import { alertAfterCommit } from '../../../alerts.ts'
import type { Deps } from '../../../deps.ts'
import { isSecretOf } from './callback-secret.ts'
import { applyEvidence } from './evidence.ts'
import { type AttemptRecord, adoptProvider, findAttempt, getAttempt } from './queries.ts'
import { railOf } from './rail-of.ts'
import type { Subjects, Verdict } from './subject.ts'

export type Arrival = {
  attemptId: Uuid | null
  secret: string
  kind: DeliveryKind
  body: string
  sourceIp: string
  allowedSource: boolean
}

/** What becomes of a delivery: a verdict on its evidence, or the reason why there is none. */
type DeliveryVerdict = Verdict | 'forged' | 'unknown_attempt' | 'foreign_source' | 'other_request'

/** What a delivery's body is sealed with. */
export const deliveryContext = (deliveryId: Uuid): readonly string[] => ['callback_delivery', deliveryId]

const refuse = (arrival: Arrival, attempt: AttemptRecord | undefined): DeliveryVerdict | null => {
  const knowsSecret = isSecretOf(attempt, arrival.secret)
  if (!arrival.allowedSource) return 'foreign_source'
  if (!attempt) return 'unknown_attempt'
  return knowsSecret ? null : 'forged'
}

/** A provider sends a notice a few times. Who knows an attempt's secret and sends it without end fills no disk either. */
const keptPerAttempt = 100

const hasRoom = async (deps: Deps, attemptId: Uuid): Promise<boolean> => {
  const kept = await deps.db.query('select from callback_deliveries where attempt_id = $1 and authentic limit $2', [
    attemptId,
    keptPerAttempt,
  ])
  return kept.length < keptPerAttempt
}

const keep = async (deps: Deps, { attemptId, kind, body, sourceIp }: Arrival): Promise<void> => {
  const id = newId()
  const sealed = deps.vault.seal(body, deliveryContext(id))
  await inTx(deps.db, async (tx) => {
    await tx.orm.insert(callbackDeliveries).values({
      id,
      attemptId,
      kind,
      bodyCiphertext: sealed.ciphertext,
      bodyKeyId: sealed.keyId,
      sourceIp,
      authentic: true,
      receivedAt: deps.clock.now(),
    })
    tx.afterCommit(() => deps.jobs.wake('deliveries'))
  })
}

/** Of what is turned away only that it came, from where and why: what a stranger sends is nobody's evidence. */
const noteRefused = async (deps: Deps, { attemptId, kind, sourceIp }: Arrival, verdict: DeliveryVerdict): Promise<void> => {
  const at = deps.clock.now()
  const id = newId()
  await deps.db.orm
    .insert(callbackDeliveries)
    .values({ id, attemptId, kind, sourceIp, authentic: false, verdict, receivedAt: at, processedAt: at })
  deps.logger.warn({ delivery: id, source: sourceIp, verdict }, 'a delivery was turned away')
}

/**
 * Keeps what proves our secret from an allowed source, and works on it after the answer. `mayNote`: whether another refusal of this
 * source may leave a row; asked only when there is one.
 */
export const receiveDelivery = async (deps: Deps, arrival: Arrival, mayNote: () => boolean): Promise<void> => {
  const attempt = arrival.attemptId === null ? undefined : await findAttempt(deps.db, arrival.attemptId)
  const refusal = refuse(arrival, attempt)
  if (refusal !== null) {
    if (mayNote()) await noteRefused(deps, arrival, refusal)
    return
  }
  if (attempt && (await hasRoom(deps, attempt.id))) return keep(deps, arrival)
  deps.logger.warn({ attempt: attempt?.id, source: arrival.sourceIp }, 'a delivery was not kept: its attempt has enough of them')
}

const refusedForDays = 7
const removal = statement(
  'callback_deliveries.prune_refused',
  `delete from callback_deliveries where id in (
     select id from callback_deliveries where not authentic and received_at < $1 order by received_at limit $2) returning 1`,
)

/** Authentic ones stay: they are the evidence that money was moved on. */
export const pruneRefusedDeliveries = (deps: Deps): Promise<void> =>
  pruneInBatches(deps.db, removal, daysAfter(deps.clock.now(), -refusedForDays))

const differs = (one: string | null, other: string | null): boolean => one !== null && other !== null && one !== other

/** Whether it names another request than the one that this attempt is known by. */
const namesAnother = (provider: ProviderReference, attempt: AttemptRecord): boolean =>
  differs(provider.request, attempt.providerRequest) || differs(provider.conversation, attempt.providerConversation)

const judge = async (
  tx: Tx,
  deps: Deps,
  subjects: Subjects,
  attempt: AttemptRecord,
  { evidence, provider }: Delivery,
): Promise<DeliveryVerdict> => {
  if (evidence.kind === 'unknown' && evidence.code === 'other_request') return 'other_request'
  if (namesAnother(provider, attempt)) {
    alertAfterCommit(tx, deps, 'evidence_mismatch', {
      subject: attempt.kind,
      id: attempt.subjectId,
      attempt: attempt.id,
      code: 'other_request',
    })
    return 'mismatch'
  }
  await adoptProvider(tx, attempt.id, provider)
  return applyEvidence(tx, deps, subjects[attempt.kind], attempt.id, evidence, { kind: 'delivery' })
}

/** Works a delivery off, once: a second run finds it processed. */
export const processDelivery = async (deps: Deps, subjects: Subjects, deliveryId: Uuid): Promise<void> => {
  await inTx(deps.db, async (tx) => {
    const open = and(eq(callbackDeliveries.id, deliveryId), isNull(callbackDeliveries.processedAt))
    const [unlocked] = await tx.orm.select({ attemptId: callbackDeliveries.attemptId }).from(callbackDeliveries).where(open)
    if (!unlocked?.attemptId) return
    const { kind: subjectKind, subjectId } = await getAttempt(tx, unlocked.attemptId)
    await subjects[subjectKind].lock(tx, subjectId)
    const [delivery] = await tx.orm.select().from(callbackDeliveries).where(open).for('update')
    if (!delivery?.bodyCiphertext || !delivery.bodyKeyId) return
    const attempt = await getAttempt(tx, unlocked.attemptId)
    const rail = railOf(deps.rails, attempt.rail)
    if (!rail) throw new Error('the rail of a delivery is no longer configured')
    const { bodyCiphertext: ciphertext, bodyKeyId: keyId } = delivery
    if (ciphertext === null || keyId === null) throw new Error('an authentic delivery has no body')
    const body = parseJson(deps.vault.open({ ciphertext, keyId }, deliveryContext(deliveryId)))
    const kind: DeliveryKind = delivery.kind === 'timeout' ? 'timeout' : 'result'
    const verdict = await judge(tx, deps, subjects, attempt, rail.readDelivery(kind, body, attempt))
    await tx.orm
      .update(callbackDeliveries)
      .set({ verdict, processedAt: deps.clock.now() })
      .where(eq(callbackDeliveries.id, deliveryId))
    tx.afterCommit(() =>
      deps.logger.info({ delivery: deliveryId, attempt: attempt.id, subject: subjectId, verdict }, 'a delivery was processed'),
    )
  })
}
