import { sha256 } from '../../../../auth/secrets.ts'
import { statement } from '../../../../db/client.ts'
import { prune } from '../../../../db/prune.ts'
import { callbackDeliveries } from '../../../../db/tables/payments.ts'
import { daysAfter } from '../../../../lib/clock.ts'
import { newId, type Uuid } from '../../../../lib/ids.ts'
import type { DeliveryKind } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { isSecretOf } from './callback-secret.ts'
import { type AttemptRecord, findAttempt } from './queries.ts'
import type { Verdict } from './subject.ts'

export type Arrival = {
  attemptId: Uuid | null
  secret: string
  kind: DeliveryKind
  body: string
  sourceIp: string
  allowedSource: boolean
}

/** The result of a delivery: a verdict on its evidence, or the reason why there is none. */
export type DeliveryVerdict = Verdict | 'forged' | 'unknown_attempt' | 'foreign_source' | 'other_request' | 'unbookable'

/** The context that a delivery's sealed body is bound to. */
export const deliveryContext = (deliveryId: Uuid): readonly string[] => ['callback_delivery', deliveryId]

const refuse = (arrival: Arrival, attempt: AttemptRecord | undefined): DeliveryVerdict | null => {
  const knowsSecret = isSecretOf(attempt, arrival.secret)
  if (!arrival.allowedSource) return 'foreign_source'
  if (!attempt) return 'unknown_attempt'
  return knowsSecret ? null : 'forged'
}

/** A provider sends a notice a few times. This limit stops a sender that knows an attempt's secret from filling the disk. */
const keptPerAttempt = 100

const keepDelivery = statement(
  'callback_deliveries.keep',
  `insert into callback_deliveries (id, attempt_id, kind, body_ciphertext, body_key_id, source_ip, authentic, received_at)
   select $1, a.id, $3, $4, $5, $6, true, $7 from rail_attempts a
   where a.id = $2 and a.secret_hash = $9
     and (select count(*) from (select from callback_deliveries where attempt_id = $2 and authentic limit $8) as kept) < $8 returning id`,
)

/**
 * One statement, for a provider that reports many payments at once waits for it. False when the secret is not the attempt's, or the attempt
 * has enough deliveries.
 */
const keep = async (
  deps: Pick<Deps, 'clock' | 'db' | 'jobs' | 'vault'>,
  { attemptId, secret, kind, body, sourceIp }: Arrival,
): Promise<boolean> => {
  const id = newId()
  const { ciphertext, keyId } = deps.vault.seal(body, deliveryContext(id))
  const values = [id, attemptId, kind, ciphertext, keyId, sourceIp, deps.clock.now(), keptPerAttempt, sha256(secret)]
  if ((await deps.db.query(keepDelivery, values)).length === 0) return false
  deps.jobs.wake('deliveries')
  return true
}

/** For a refused delivery only the time, the source and the reason are stored: what a stranger sends is not evidence. */
const noteRefused = async (
  deps: Pick<Deps, 'clock' | 'db' | 'logger'>,
  { attemptId, kind, sourceIp }: Arrival,
  verdict: DeliveryVerdict,
): Promise<void> => {
  const at = deps.clock.now()
  const id = newId()
  await deps.db.orm
    .insert(callbackDeliveries)
    .values({ id, attemptId, kind, sourceIp, authentic: false, verdict, receivedAt: at, processedAt: at })
  deps.logger.warn({ delivery: id, source: sourceIp, verdict }, 'a delivery was refused')
}

/**
 * Stores a delivery with the right secret from an allowed source; it is processed after the answer. `mayNote`: whether another refusal from
 * this source may be stored; called only for a refusal.
 */
export const receiveDelivery = async (
  deps: Pick<Deps, 'clock' | 'db' | 'jobs' | 'logger' | 'vault'>,
  arrival: Arrival,
  mayNote: () => boolean,
): Promise<void> => {
  if (arrival.attemptId !== null && arrival.allowedSource && (await keep(deps, arrival))) return
  const attempt = arrival.attemptId === null ? undefined : await findAttempt(deps.db, arrival.attemptId)
  const refusal = refuse(arrival, attempt)
  if (refusal !== null) {
    if (mayNote()) await noteRefused(deps, arrival, refusal)
    return
  }
  deps.logger.warn({ attempt: attempt?.id, source: arrival.sourceIp }, 'a delivery was not stored: its attempt has too many')
}

const refusedForDays = 7
const removal = statement(
  'callback_deliveries.prune_refused',
  `delete from callback_deliveries where id in (
     select id from callback_deliveries where not authentic and received_at < $1 order by received_at, id limit $2 offset $3) returning 1`,
)

/** Authentic deliveries are kept: they are the evidence on which money was moved. */
export const pruneRefusedDeliveries = (deps: Pick<Deps, 'clock' | 'db'>): Promise<void> =>
  prune(deps.db, { removal, before: daysAfter(deps.clock.now(), -refusedForDays) })
