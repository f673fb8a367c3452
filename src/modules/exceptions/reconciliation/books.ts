import type { OrderNames } from '../../../auth/order-names.ts'
import { type Db, statement } from '../../../db/client.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { AnyRail, Provider } from '../../../lib/rail-names.ts'
import type { Movement } from '../../../rails/rail.ts'
import { isOlderThan, seedOf } from '../../payments/lost-writes.ts'

/**
 * A line of a provider's statement. `until`: the end of its day, where it states no time. `party`: the other side as it is printed, masked;
 * `account`: the one at a paybill; `linked`: the receipt that it undoes or belongs to; `isCharge`: its details call it a charge.
 */
export type StatementLine = Movement & {
  until?: Date
  party?: string
  account?: string
  linked?: string
  isCharge?: true
}

export type Period = { start: Date; end: Date }

/** A statement as it was read. Its lines are of money that has moved. */
export type Statement = {
  provider: Provider
  lines: readonly StatementLine[]
  /** Lines of movements that have not been completed, or not yet: no evidence, but of something. */
  unfinished: readonly StatementLine[]
  /** The organisation's number and account that the heading names, and the period that it states. */
  heading: { number: string | null; account: string | null; period: { start: Date | undefined; end: Date | undefined } }
  /** All of it, in capitals and without anything between letters and digits: what names an id, names it in here. */
  text: string
}

/** Our record of one payment or top-up that was sent: its amount is signed as in a statement. */
export type Booked = {
  kind: 'payment' | 'topup'
  id: Uuid
  rail: AnyRail
  attemptId: Uuid | null
  reference: string | null
  /** The other name under which the provider got it. */
  orderId: Uuid | null
  /** The provider's own name of it. */
  conversation: string | null
  /** Every name under which any send of it is known to the provider. */
  names: readonly string[]
  /** Of a payment: when it was sent (`until`: at the latest, where writes were lost), and to whom. */
  sent: { at: Date; until: Date; payeeMask: string; accountReference: string | null } | null
  receipt: string | null
  amountMinor: Minor
  status: string
  at: Date
}

/** A text or a name, as they are compared with each other. */
export const squeezed = (text: string): string => text.toUpperCase().replace(/[^0-9A-Z]/g, '')

/**
 * What was completed in the period, and what the statement names by receipt or reference, at any time. `lost`: a payment of unknown outcome
 * without an attempt was sent, if at all, in writes that were lost, under names that follow from it.
 */
const bookedStatement = statement(
  'reconciliation.booked',
  `select 'payment' as kind, p.id, p.rail, a.id as "attemptId", a.reference, a.order_id as "orderId", a.provider_conversation as conversation,
     json_build_object('at', coalesce(a.created_at, lost.at), 'until', coalesce(a.created_at, lost.until), 'payeeMask', b.destination_mask,
       'accountReference', p.account_reference) as sent,
     case when lost.until is not null then json_build_object('id', p.id, 'accountId', p.account_id, 'workspaceId', p.workspace_id,
       'idempotencyKey', p.idempotency_key) end as lost, p.provider_receipt as receipt, -p.amount_minor as "amountMinor", p.status,
     coalesce(p.completed_at, p.updated_at) as at,
     case when p.status = 'unknown' then array(select unnest(array[n.id::text, n.order_id::text, n.reference, n.provider_request, n.provider_conversation])
       from rail_attempts n where n.subject_id = p.id) end as names
   from payments p join beneficiaries b on b.id = p.beneficiary_id
     left join lateral (select id, reference, order_id, provider_conversation, created_at from rail_attempts where subject_id = p.id order by created_at desc limit 1) a on true
     left join lateral (select coalesce(p.execute_at, p.created_at) as at, min(l.noticed_at) as until from write_losses l
       where a.id is null and p.status = 'unknown' and ${isOlderThan('l', 'p')} having count(*) > 0) lost on true
   where p.rail = any($1::text[]) and (p.status = 'unknown' or (p.status in ${paidPaymentsSql} and p.completed_at between $2 and $3) or p.provider_receipt = any($4::text[])
     or p.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1)
     or p.id in (select subject_id from rail_attempts where id = any($6::uuid[])))
   union all
   select 'topup', t.id, t.method, a.id, a.reference, a.order_id, null, null, null, t.provider_receipt, t.amount_minor, t.status, coalesce(t.completed_at, t.updated_at), null
   from topups t left join lateral (select id, reference, order_id from rail_attempts where subject_id = t.id order by created_at desc limit 1) a on true
   where t.method = any($1::text[]) and t.deposit_code is null and ((t.status = 'succeeded' and t.completed_at between $2 and $3) or t.provider_receipt = any($4::text[])
     or t.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1))
   union all
   select 'topup', coalesce(d.topup_id, d.id), d.rail, null, null, null, null, null, null, d.receipt, d.amount_minor, 'succeeded', d.paid_at, null from deposits d
   where d.rail = any($1::text[]) and d.state in ('credited', 'suspense') and (d.paid_at between $2 and $3 or d.receipt = any($4::text[]))`,
)

type Lost = { id: Uuid; accountId: Uuid; workspaceId: Uuid; idempotencyKey: string | null }

/** As the database answers: times in JSON are texts. `sent` is null where no attempt may have been sent. */
type Row = Omit<Booked, 'names' | 'sent'> & {
  names: (string | null)[] | null
  sent: (Omit<NonNullable<Booked['sent']>, 'at' | 'until'> & { at: string | null; until: string | null }) | null
  lost: Lost | null
}

export const readBooked = async (
  db: Db,
  rails: readonly string[],
  period: { start: Date; end: Date },
  names: { receipts: readonly string[]; references: readonly string[]; attemptIds: readonly Uuid[] },
  orderNames: OrderNames,
): Promise<Booked[]> => {
  const values = [rails, period.start, period.end, names.receipts, names.references, names.attemptIds]
  const rows = await db.query<Row>(bookedStatement, values)
  return rows.map(({ sent, lost, names: known, ...row }) => {
    const order = lost && orderNames.orderOf(seedOf(lost), 0)
    const names = [...(known ?? []), ...(order ? [order.orderId, order.reference] : []), row.receipt].flatMap(
      (name) => name ?? [],
    )
    return {
      ...row,
      ...order,
      names,
      sent: sent?.at && sent.until ? { ...sent, at: new Date(sent.at), until: new Date(sent.until) } : null,
    }
  })
}
