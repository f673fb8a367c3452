import { type Db, statement } from '../../db/client.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { providerOf, railNames, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import type { Evidence, Rails } from '../../rails/rail.ts'
import { repeatWithinSeconds } from '../attempts/attempt.ts'
import type { PaymentRecord } from './queries.ts'

/** The lost writes may include the payment's approval and its sending. */
export const mayHaveBeenSent: Evidence = {
  kind: 'unknown',
  code: 'restored',
  message: 'The database went back to a time before it was sent, so it may have been sent.',
}

const couldBeSentFrom = (payment: string): string => `coalesce(${payment}.execute_at, ${payment}.created_at)`

/** Whether `payment` could have been sent before loss `loss` was noticed: requested by then, and due if scheduled. */
export const isOlderThan = (loss: string, payment: string): string => `${loss}.noticed_at > ${couldBeSentFrom(payment)}`

/** The same for the latest loss, which a statement reads once for all its payments. */
export const isOlderThanLoss = (payment: string): string =>
  `coalesce((select max(l.noticed_at) from write_losses l) > ${couldBeSentFrom(payment)}, false)`

/** The statement line may be this payment: sent in the lost writes, and now requested again. */
export const mayBeListed: Evidence = {
  kind: 'unknown',
  code: 'listed',
  message:
    'A statement lists a payment of this amount that nothing here explains, so it may have been sent before writes were lost.',
}

const providersSql = railNames.map((rail) => `('${providerOf(rail)}', '${rail}')`).join(', ')

/**
 * Whether a statement that was compared during a loss lists a payment of this amount that is still in suspense. `payment` was
 * requested after that loss. If a payment was lost whole, with its key, the client's repetition looks like this.
 */
export const isListedAsLost = (payment: string): string =>
  `exists (select from write_losses l join suspense_items s on s.created_at between l.noticed_at and coalesce(l.ended_at, 'infinity')
     where l.noticed_at <= ${payment}.created_at and s.resolved_at is null and s.direction = 'out' and s.reason = 'not_in_our_books'
       and s.amount_minor = ${payment}.amount_minor and (s.rail, ${payment}.rail) in (${providersSql}))`

/** Seed of the order's names: a payment that was lost and is requested again with the same key becomes the same order. */
export const seedOf = ({
  id,
  accountId,
  workspaceId,
  idempotencyKey,
}: Pick<PaymentRecord, 'id' | 'accountId' | 'workspaceId' | 'idempotencyKey'>): readonly string[] =>
  idempotencyKey === null ? ['payment', id] : ['payments', accountId, workspaceId, idempotencyKey]

const notRefused = statement('payments.not_refused_as_duplicate')`
  select p.id from payments p where p.id = any($1::uuid[]) and not (p.created_at > $2 and exists (
     select from unnest($3::text[], $4::text[]) as r(rail, account) where r.rail = p.rail
       and (r.account is null or exists (select from duplicate_checks c where c.rail = r.rail and c.account = r.account))))`

/** Rails whose provider refuses a repeated order. `account`: the one that a test must have proven; null: no test needed. */
const refusing = ({ payout }: Pick<Rails, 'payout'>) =>
  railNames.flatMap((rail) => {
    const repeats = payout[rail]?.repeats
    return repeats ? [{ rail, account: repeats.provenFor }] : []
  })

const proven = statement('rails.refuse_duplicates')`
  select r.rail from unnest($1::text[], $2::text[]) as r(rail, account)
   where r.account is null or exists (select from duplicate_checks c where c.rail = r.rail and c.account = r.account)`

/** Rails on which an order that is sent again may be paid, or prompted on a customer's phone, twice. */
export const railsThatMayPayTwice = async (db: Db, rails: Pick<Rails, 'payout'>): Promise<SendingRail[]> => {
  const rows = await db.query<{ rail: string }>(proven, fieldsOf(refusing(rails), 'rail', 'account'))
  return sendingRails.filter((rail) => !rows.some((row) => row.rail === rail))
}

/**
 * Payments that may have been sent before writes were lost, and that their provider might pay again. Reasons: the provider has no
 * id of ours; no test has shown that it refuses a repeated order; it has had time to forget the first one.
 */
export const paymentsThatMayBePaidTwice = async (
  db: Db,
  rails: Pick<Rails, 'payout'>,
  ids: readonly Uuid[],
  at: Date,
): Promise<ReadonlySet<Uuid>> => {
  const rows = await db.query<{ id: Uuid }>(notRefused, [
    ids,
    secondsAfter(at, -repeatWithinSeconds),
    ...fieldsOf(refusing(rails), 'rail', 'account'),
  ])
  return new Set(rows.map(({ id }) => id))
}
