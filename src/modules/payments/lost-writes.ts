import { type Db, statement } from '../../db/client.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { providerOf, railNames, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import type { Evidence, Rails } from '../../rails/rail.ts'
import { repeatWithinSeconds } from '../attempts/attempt.ts'
import type { PaymentRecord } from './queries.ts'

/** For a payment whose approval and transmission may be among the lost writes. */
export const sentBeforeLoss: Evidence = {
  kind: 'unknown',
  code: 'restored',
  message: 'The database went back to a time before it was sent, so it may have been sent.',
}

const couldBeSentFrom = (payment: string): string => `coalesce(${payment}.execute_at, ${payment}.created_at)`

/** SQL condition: `payment` existed, and was due if scheduled, before loss `loss` was noticed. It may have been sent by then. */
export const predatesLossSql = (loss: string, payment: string): string => `${loss}.noticed_at > ${couldBeSentFrom(payment)}`

/** The same condition for the latest loss, which a query reads once for all its payments. */
export const predatesLatestLossSql = (payment: string): string =>
  `coalesce((select max(l.noticed_at) from write_losses l) > ${couldBeSentFrom(payment)}, false)`

/** For a payment requested again after a loss: the unexplained statement line may be its first transmission. */
export const unexplainedPayout: Evidence = {
  kind: 'unknown',
  code: 'listed',
  message:
    'A statement lists a payment of this amount that nothing here explains, so it may have been sent before writes were lost.',
}

const providersSql = railNames.map((rail) => `('${providerOf(rail)}', '${rail}')`).join(', ')

/**
 * SQL condition: during a loss that was noticed before `payment` was requested, a statement listed an unexplained payout of the
 * same amount, still in suspense. A client's retry meets this condition if the loss took the payment with its key.
 */
export const matchesUnexplainedPayoutSql = (payment: string): string =>
  `exists (select from write_losses l join suspense_items s on s.created_at between l.noticed_at and coalesce(l.ended_at, 'infinity')
     where l.noticed_at <= ${payment}.created_at and s.resolved_at is null and s.direction = 'out' and s.reason = 'not_in_our_books'
       and s.amount_minor = ${payment}.amount_minor and (s.rail, ${payment}.rail) in (${providersSql}))`

/** The idempotency key of a payment's batch; null without a batch or a key. */
export const batchKeySql = (payment: string): string =>
  `(select b.idempotency_key from payment_batches b where b.id = ${payment}.batch_id)`

/** `batchKey`: `batchKeySql`. */
type OrderCause = Pick<PaymentRecord, 'id' | 'accountId' | 'workspaceId' | 'idempotencyKey' | 'batchIndex'> & {
  batchKey: string | null
}

/** Seed of the order's names at the provider: the same for a lost payment or batch that is requested again with its key. */
export const seedOf = ({ id, accountId, workspaceId, idempotencyKey, batchKey, batchIndex }: OrderCause): readonly string[] => {
  if (idempotencyKey !== null) return ['payments', accountId, workspaceId, idempotencyKey]
  return batchKey === null ? ['payment', id] : ['payment_batches', accountId, workspaceId, batchKey, String(batchIndex)]
}

/** SQL condition: the provider of `r.rail` refuses a repeated order. */
const refusesDuplicates = `r.account is null or exists (select from duplicate_checks c where c.rail = r.rail and c.account = r.account)`

/** Release 0.4.0 named the items of a batch with a key by their ids, so the provider may know such an order by another name. */
const selectUnprotected = statement('payments.not_refused_as_duplicate')`
  select p.id from payments p where p.id = any($1::uuid[]) and not (p.created_at > $2 and ${batchKeySql('p')} is null and exists (
     select from unnest($3::text[], $4::text[]) as r(rail, account) where r.rail = p.rail
       and (${refusesDuplicates})))`

/** Rails whose provider refuses a repeated order. `account`: the account that must have passed a test; null: no test needed. */
const railsThatMayRefuse = ({ payout }: Pick<Rails, 'payout'>) =>
  railNames.flatMap((rail) => {
    const repeats = payout[rail]?.repeats
    return repeats ? [{ rail, account: repeats.provenFor }] : []
  })

const selectRefusingRails = statement('rails.refuse_duplicates')`
  select r.rail from unnest($1::text[], $2::text[]) as r(rail, account)
   where ${refusesDuplicates}`

/** Rails on which an order that is sent again may be paid twice, or prompt the customer's phone twice. */
export const railsThatMayPayTwice = async (db: Db, rails: Pick<Rails, 'payout'>): Promise<SendingRail[]> => {
  const rows = await db.query<{ rail: string }>(selectRefusingRails, fieldsOf(railsThatMayRefuse(rails), 'rail', 'account'))
  return sendingRails.filter((rail) => !rows.some((row) => row.rail === rail))
}

/** The payments among `ids`, which may have been sent before writes were lost, that a provider might pay twice if sent now. */
export const paymentsThatMayBePaidTwice = async (
  db: Db,
  rails: Pick<Rails, 'payout'>,
  ids: readonly Uuid[],
  at: Date,
): Promise<ReadonlySet<Uuid>> => {
  const rows = await db.query<{ id: Uuid }>(selectUnprotected, [
    ids,
    secondsAfter(at, -repeatWithinSeconds),
    ...fieldsOf(railsThatMayRefuse(rails), 'rail', 'account'),
  ])
  return new Set(rows.map(({ id }) => id))
}
