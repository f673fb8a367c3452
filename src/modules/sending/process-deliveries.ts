import { and, eq, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { OrderNames } from '../../auth/order-names.ts'
import type { Vault } from '../../auth/vault.ts'
import { lockGroup } from '../../db/account-lock.ts'
import { first, inTx, type Tx } from '../../db/client.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { updateRows } from '../../db/prepare-write.ts'
import { callbackBodies, callbackDeliveries, payments, railAttempts } from '../../db/tables/payments.ts'
import { topups } from '../../db/tables/topups.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { unpack } from '../../lib/packed-text.ts'
import { receiptKey } from '../../lib/text.ts'
import { continueTrace, inSpan } from '../../lib/tracing.ts'
import { contended, type Outcome } from '../../queue/account-queue.ts'
import { orderIds } from '../../rails/destinations.ts'
import { parseJson } from '../../rails/fields.ts'
import type { Delivery, ProviderReference } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { type AttemptRecord, adapterOf, adoptProviders, attemptForRail } from '../attempts/attempt.ts'
import { destinationContext, findBeneficiary } from '../beneficiaries/queries.ts'
import type { Parts } from '../parts.ts'
import { raiseProviderAlert } from '../suspense/provider-alerts-service.ts'
import { recordUnapplied } from '../suspense/service.ts'
import { type DeliveryVerdict, deliveryContext } from './deliveries.ts'
import { applyEvidence, disputedOf, type LockedAttempt, lockAttempts } from './evidence.ts'

export const openDeliveries = prepare(
  'deliveries.open',
  { taken: 'uuid[]', full: 'uuid[]', own: 'uuid[]?', others: 'timestamptz', take: 'rows' },
  'pool',
  (orm, param) =>
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
      .where(
        and(
          isNull(callbackDeliveries.processedAt),
          sql`${callbackDeliveries.id} <> all(${param.taken})`,
          sql`coalesce(${payments.accountId}, ${topups.accountId}) <> all(${param.full})`,
          param.own && or(lte(callbackDeliveries.receivedAt, param.others), sql`${callbackDeliveries.id} = any(${param.own})`),
        ),
      )
      .orderBy(callbackDeliveries.receivedAt, callbackDeliveries.id)
      .limit(param.take),
)

export type OpenDelivery = RowOf<typeof openDeliveries>

type ParsedDelivery = { delivery: OpenDelivery; locked: LockedAttempt; report: Delivery }

const inTraceOf = <T>({ id, kind, subjectId, traceparent }: OpenDelivery, work: () => Promise<T>): Promise<T> =>
  continueTrace(traceparent, 'job deliveries', { delivery: id, subject: formatId(kind, subjectId) }, work)

/** A group of deliveries has its own trace, and each delivery is also a span in its payment's trace. */
const inTraceOfAll = <T>(group: readonly OpenDelivery[], work: () => Promise<T>): Promise<T> => {
  const [only] = group
  return only && group.length === 1 ? inTraceOf(only, work) : inSpan('job deliveries', { deliveries: group.length }, work)
}

/** Two queries, because a single one with `or` would need bitmap scans, which the connections disable. */
const anotherOrder = prepare(
  'deliveries.another_order',
  { subjectId: 'uuid', ids: 'uuid[]', references: 'text[]' },
  (orm, param) =>
    orm
      .select({ id: railAttempts.id })
      .from(railAttempts)
      .where(and(ne(railAttempts.subjectId, param.subjectId), sql`${railAttempts.id} = any(${param.ids})`))
      .unionAll(
        orm
          .select({ id: railAttempts.id })
          .from(railAttempts)
          .where(
            and(
              ne(railAttempts.subjectId, param.subjectId),
              sql`${railAttempts.reference} = any(${param.references})`,
              sql`${railAttempts.send} = 1`,
            ),
          ),
      )
      .limit(1),
)

/** Whether the delivery names another order of ours, and so has the wrong address. Gateway and tracking ids prove nothing. */
const namesOtherOrder = async (
  tx: Tx,
  orderNames: OrderNames,
  { request, conversation }: ProviderReference,
  attempt: AttemptRecord,
): Promise<boolean> => {
  const foreign = [request, conversation].flatMap((name) => name ?? []).filter((name) => name !== attempt.reference)
  const orders = orderIds(foreign).filter((orderId) => orderId !== attempt.orderId)
  const references = foreign.filter((name) => /^\d{12}$/.test(name))
  if (orders.length === 0 && references.length === 0) return false
  const attemptIds = orders.map((orderId) => orderNames.attemptOf({ orderId }, 1))
  return (await first(tx, anotherOrder, { subjectId: attempt.subjectId, ids: attemptIds, references })) !== undefined
}

/** Whether the provider may have an earlier, lost order of the same name instead of this one. Only the payee can show that. */
const mayBeEarlierOrder = ({ fingerprint, providerRequest, providerConversation }: AttemptRecord): boolean =>
  fingerprint === null || (providerRequest === null && providerConversation === null)

const paidOtherPayee = async (tx: Tx, vault: Vault, { subject }: LockedAttempt, receiver: string): Promise<boolean> => {
  if (subject.kind === 'topup') return true
  const payee = await findBeneficiary(tx, subject.record.workspaceId, subject.record.beneficiaryId)
  if (!payee) return true
  const sealed = { ciphertext: payee.destinationCiphertext, keyId: payee.destinationKeyId }
  return vault.open(sealed, destinationContext(payee.id, payee.workspaceId)) !== receiver
}

/** Returns the verdict on a delivery about another order, or undefined for any other delivery. */
const judgeForeign = async (
  tx: Tx,
  { orderNames, vault }: Parts,
  { delivery, locked, report: { evidence, provider, receiver, answersQuery } }: ParsedDelivery,
): Promise<DeliveryVerdict | undefined> => {
  const { attempt } = locked
  if (evidence.kind === 'unknown' && evidence.code === 'other_request') return 'other_request'
  const isCompared = receiver !== undefined && (mayBeEarlierOrder(attempt) || answersQuery === true)
  const isOtherPayee = isCompared && (await paidOtherPayee(tx, vault, locked, receiver))
  const isForeign = (await namesOtherOrder(tx, orderNames, provider, attempt)) || (isOtherPayee && mayBeEarlierOrder(attempt))
  if (!isForeign) {
    // The delivery names our order but another payee. It counts as evidence, and a person asks the provider.
    const about = { rail: attempt.rail, subjectKind: attempt.kind, subjectId: attempt.subjectId }
    if (isOtherPayee) await raiseProviderAlert(tx, { ...about, word: 'another_receiver', deliveryId: delivery.id })
    return undefined
  }
  const facts = { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code: 'other_request' }
  alertAfterCommit(tx, 'evidence_mismatch', facts)
  await recordUnapplied(tx, disputedOf(locked), 'contradiction', evidence)
  return 'mismatch'
}

/** Returns the verdicts in the order of `parsed`. */
const judgeAll = async (tx: Tx, deps: Parts, parsed: readonly ParsedDelivery[]): Promise<DeliveryVerdict[]> => {
  const foreign: (DeliveryVerdict | undefined)[] = []
  for (const each of parsed) foreign.push(await judgeForeign(tx, deps, each))
  const own = parsed.filter((_, index) => foreign[index] === undefined)
  const [, verdicts] = await Promise.all([
    adoptProviders(
      tx,
      own.map(({ locked, report }) => ({ ...report.provider, id: locked.attempt.id })),
    ),
    applyEvidence(
      tx,
      own.map(({ locked, report: { evidence, answersQuery } }) => ({
        locked,
        evidence,
        source: { kind: answersQuery ? ('query' as const) : ('delivery' as const) },
      })),
    ),
  ])
  const remaining = verdicts.values()
  return foreign.map((verdict) => verdict ?? remaining.next().value ?? 'inconclusive')
}

/** Leaves out deliveries that another process has processed. */
const lockBodies = prepare('deliveries.lock', { ids: 'uuid[]' }, 'pool', (orm, param) =>
  orm
    .select({
      id: callbackDeliveries.id,
      kind: callbackDeliveries.kind,
      ciphertext: callbackBodies.bodyCiphertext,
      keyId: callbackBodies.bodyKeyId,
    })
    .from(callbackDeliveries)
    .innerJoin(callbackBodies, eq(callbackBodies.id, callbackDeliveries.id))
    .where(and(sql`${callbackDeliveries.id} = any(${param.ids})`, isNull(callbackDeliveries.processedAt)))
    .orderBy(callbackDeliveries.id)
    .for('update', { of: callbackDeliveries }),
)

const readReport = (deps: Parts, { attempt }: LockedAttempt, { id, kind, ciphertext, keyId }: RowOf<typeof lockBodies>) => {
  const rail = adapterOf(deps.rails, attempt.rail)
  if (!rail) throw new Error('the rail of a delivery is no longer configured')
  const body = parseJson(unpack(deps.vault.openBytes({ ciphertext, keyId }, deliveryContext(id))))
  return rail.readDelivery(kind === 'timeout' ? 'timeout' : 'result', body, attemptForRail(deps, attempt))
}

/** Processes one delivery per receipt, because the search for a receipt's holder cannot see this transaction's writes yet. */
const firstOfEachReceipt = (parsed: readonly ParsedDelivery[]): ParsedDelivery[] => {
  const receipts = new Set<string>()
  return parsed.filter(({ report: { evidence } }) => {
    if (!('receipt' in evidence) || evidence.receipt === null) return true
    const key = receiptKey(evidence.receipt)
    const isFirst = !receipts.has(key)
    receipts.add(key)
    return isFirst
  })
}

const lockAndParse = async (tx: Tx, deps: Parts, group: readonly OpenDelivery[]): Promise<ParsedDelivery[]> => {
  const attempts = await lockAttempts(
    tx,
    group.map(({ attemptId, kind, subjectId }) => ({ id: attemptId, kind, subjectId })),
  )
  const bodies = await tx.run(lockBodies, { ids: group.map(({ id }) => id) })
  const bodyOf = new Map(bodies.map((body) => [body.id, body]))
  return group.flatMap((delivery, index) => {
    const [locked, body] = [attempts[index], bodyOf.get(delivery.id)]
    return locked && body ? [{ delivery, locked, report: readReport(deps, locked, body) }] : []
  })
}

/** Processes each delivery once. A second run, in any process, finds it processed under the same locks. */
const processOpen = async (tx: Tx, deps: Parts, group: readonly OpenDelivery[]): Promise<void> => {
  const parsed = firstOfEachReceipt(await lockAndParse(tx, deps, group))
  if (parsed.length === 0) return
  const verdicts = await judgeAll(tx, deps, parsed)
  const ended = parsed.map(({ delivery: { id } }, index) => ({ id, verdict: verdicts[index] ?? null, processedAt: tx.at }))
  await updateRows(tx, callbackDeliveries, ['verdict', 'processedAt'], ended)
  for (const [index, { delivery }] of parsed.entries()) {
    const { id, attemptId: attempt, kind: subject, subjectId } = delivery
    const facts = { delivery: id, attempt, subject, id: subjectId, verdict: verdicts[index] }
    const log = async () => deps.logger.info(facts, 'callback processed')
    tx.afterCommit(() => void (group.length === 1 ? log() : inTraceOf(delivery, log)))
  }
}

/** Takes one delivery of each subject, because a transaction settles a subject once. Later groups take the others. */
const firstOfEachSubject = (rows: readonly OpenDelivery[]): OpenDelivery[] =>
  [...new Map(rows.toReversed().map((row) => [row.subjectId, row])).values()].reverse()

/** An outcome says only whether the account was free. A delivery that was not processed stays open. */
export const processDeliveries = (deps: Parts, group: readonly OpenDelivery[], wait: boolean): Promise<Outcome<void>[]> =>
  inTraceOfAll(group, () =>
    inTx(deps.db, async (tx) => {
      const busy = await lockGroup(tx, { exclusive: group.map(({ tenant }) => tenant) }, wait)
      const free = firstOfEachSubject(group.filter(({ tenant }) => !busy.has(tenant)))
      if (free.length > 0) await processOpen(tx, deps, free)
      return group.map(({ tenant }) => (busy.has(tenant) ? contended : undefined))
    }),
  )
