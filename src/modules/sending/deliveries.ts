import { and, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import { type Database, type Db, statement, type Tx } from '../../db/client.ts'
import { coalesce } from '../../db/coalesce.ts'
import { dropPartitions } from '../../db/partitions.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, insertRows } from '../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../db/prune.ts'
import { selectRow } from '../../db/select-rows.ts'
import { callbackBodies, callbackDeliveries } from '../../db/tables/payments.ts'
import { suspenseItems } from '../../db/tables/rails.ts'
import { type Clock, daysAfter } from '../../lib/clock.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { pack, unpack } from '../../lib/packed-text.ts'
import type { DeliveryKind } from '../../rails/rail.ts'
import { type AttemptRecord, type EvidenceVerdict, findAttempt } from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'

export type Arrival = {
  attemptId: Uuid | null
  secret: string
  kind: DeliveryKind
  body: string
  sourceIp: string
  allowedSource: boolean
}

export type DeliveryVerdict = EvidenceVerdict | 'forged' | 'unknown_attempt' | 'foreign_source' | 'other_request' | 'unbookable'

export const deliveryContext = (deliveryId: Uuid): readonly string[] => ['callback_delivery', deliveryId]

/** Maximum of stored deliveries per attempt and day: a sender with its secret cannot fill the disk, and later days are read. */
const keptPerAttemptAndDay = 100

const keepDeliveries = statement('callback_deliveries.keep')`
  with kept as (
     insert into callback_deliveries (id, attempt_id, account_id, kind, source_ip, authentic, received_at)
     select x.id, x.attempt, (select a.account_id from rail_attempts a where a.id = x.attempt), x.kind, x.source, true, $7
     from (select *, row_number() over (partition by attempt order by id) as n
       from unnest($1::uuid[], $2::uuid[], $3::text[], $6::text[]) as given(id, attempt, kind, source)) as x
     where x.n + (select count(*) from (select from callback_deliveries d where d.attempt_id = x.attempt and d.authentic
         and d.received_at > $7::timestamptz - interval '1 day' limit $8) as earlier) <= $8
     returning id, attempt_id, account_id),
   bodies as (
     insert into callback_bodies (id, body_ciphertext, body_key_id)
     select x.id, x.body, x.key from unnest($1::uuid[], $4::bytea[], $5::text[]) as x(id, body, key) join kept on kept.id = x.id)
   select id, account_id is not null or exists (select from callback_deliveries d join write_losses l on l.ended_at > d.received_at
     where d.attempt_id = kept.attempt_id and d.authentic) as known from kept`

type Authentic = Arrival & { attemptId: Uuid }
type Kept = { stored: boolean; known: boolean }

/**
 * `known`: the attempt exists, or a person ended a loss after the provider had reported the attempt. Deliveries of a lost attempt
 * are kept, because a repeated request of its payment creates the same order and the same attempt.
 */
const keepAll = async (deps: Parts, arrivals: readonly Authentic[]): Promise<Kept[]> => {
  const rows = arrivals.map((arrival) => {
    const id = newId()
    return { ...arrival, id, ...deps.vault.seal(pack('notice', arrival.body), deliveryContext(id)) }
  })
  const kept = await deps.db.query<{ id: Uuid; known: boolean }>(keepDeliveries, [
    ...fieldsOf(rows, 'id', 'attemptId', 'kind', 'ciphertext', 'keyId', 'sourceIp'),
    deps.clock.now(),
    keptPerAttemptAndDay,
  ])
  if (kept.length > 0) deps.jobs.wake('deliveries', { dueIds: kept.map(({ id }) => id) })
  const known = new Map(kept.map((row) => [row.id, row.known]))
  return rows.map(({ id }) => ({ stored: known.has(id), known: known.get(id) ?? true }))
}

/** Stores only the time, source and reason of a refused delivery, because its content is not evidence. */
const storeRefused = async (
  deps: Parts,
  { attemptId, kind, sourceIp }: Arrival,
  { attempt, verdict }: { attempt: AttemptRecord | undefined; verdict: DeliveryVerdict },
): Promise<void> => {
  const at = deps.clock.now()
  const id = newId()
  const refused = { id, attemptId, accountId: attempt?.accountId, kind, sourceIp }
  await insertRows(deps.db, callbackDeliveries, [{ ...refused, authentic: false, verdict, receivedAt: at, processedAt: at }])
  deps.logger.warn({ delivery: id, source: sourceIp, verdict }, 'callback rejected')
}

const maxInStatement = 64

/** Stores simultaneous deliveries in one query and processes them after the answer. `mayStoreRefused`: limits refused ones. */
export const createReceiver = (deps: Parts) => {
  const keep = coalesce<Authentic, Kept>({
    query: (arrivals) => keepAll(deps, arrivals),
    maxInFlight: 1,
    maxKeys: maxInStatement,
  })
  return async (arrival: Arrival, mayStoreRefused: () => boolean): Promise<void> => {
    const { attemptId } = arrival
    const knowsSecret = attemptId !== null && deps.orderNames.isSecretOf(attemptId, arrival.secret)
    if (knowsSecret && arrival.allowedSource) {
      const { stored, known } = await keep({ ...arrival, attemptId })
      // The attempt was lost: only this service can create the secret, and it records each attempt before sending.
      if (!known) deps.lossDetection.reportLoss('a provider reports about an attempt that is not there')
      if (stored) return
    }
    const attempt = attemptId === null ? undefined : await findAttempt(deps.db, { id: attemptId })
    if (!arrival.allowedSource || !attempt || !knowsSecret) {
      const verdict = !arrival.allowedSource ? 'foreign_source' : attempt ? 'forged' : 'unknown_attempt'
      if (mayStoreRefused()) await storeRefused(deps, arrival, { attempt, verdict })
      return
    }
    deps.logger.warn({ attempt: attempt.id, source: arrival.sourceIp }, 'callback discarded: its attempt has too many today')
  }
}

export const keepUnreadable = (tx: Tx, vault: Vault, { id, kind, body }: { id: Uuid; kind: string; body: string }): void => {
  const { at } = tx
  const { ciphertext, keyId } = vault.seal(pack('notice', body), deliveryContext(id))
  insertRow(tx, callbackDeliveries, { id, kind, authentic: true, verdict: 'inconclusive', receivedAt: at, processedAt: at })
  insertRow(tx, callbackBodies, { id, bodyCiphertext: ciphertext, bodyKeyId: keyId })
}

const findBody = selectRow('callback_bodies.by_id', callbackBodies, ['id'])

export const readDelivery = async (db: Db, vault: Vault, id: Uuid): Promise<string | null> => {
  const row = await findBody(db, { id })
  return row ? unpack(vault.openBytes({ ciphertext: row.bodyCiphertext, keyId: row.bodyKeyId }, deliveryContext(id))) : null
}

const refusedForDays = 7
const removal = prepareRemoval('callback_deliveries.prune_refused', callbackDeliveries.id, callbackDeliveries.receivedAt, {
  condition: sql`not ${callbackDeliveries.authentic}`,
})

/** Removes refused deliveries only. Authentic deliveries are kept as the evidence on which money was moved. */
export const pruneRefusedDeliveries = (db: Database, clock: Clock): Promise<void> =>
  prune(db, { removal, before: daysAfter(clock.now(), -refusedForDays) })

/** By the database's clock, as `dropPartitions` counts. */
const daysSinceOldestOpen = prepare('callback_bodies.open_for_days', {}, 'pool', (orm) => {
  const receivedAt = sql`(select d.received_at from callback_deliveries d where d.id = ${suspenseItems.deliveryId})`
  return orm
    .select({ days: sql<number | null>`ceil(extract(epoch from now() - min(${receivedAt})) / 86400)::int` })
    .from(suspenseItems)
    .where(and(isNull(suspenseItems.resolvedAt), isNotNull(suspenseItems.deliveryId)))
})

/** If a retention is set, removes bodies by whole months, up to the oldest delivery that is unprocessed or in open suspense. */
export const pruneBodies = async ({ config, db, logger }: Parts): Promise<void> => {
  const days = config.DELIVERY_BODY_RETENTION_DAYS
  if (days === undefined) return
  const detach = config.EXPIRED_PERIODS === 'detach'
  const [open] = await db.run(daysSinceOldestOpen, {})
  const dropped = await dropPartitions(db, 'callback_bodies', Math.max(days, open?.days ?? 0), detach)
  if (dropped.length > 0) logger.info({ periods: dropped, detached: detach }, 'old partitions of callback bodies removed')
}
