import type { OrderNames } from '../../../auth/order-names.ts'
import { type Db, statement } from '../../../db/client.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { batchKeySql, predatesLossSql, seedOf } from '../../payments/lost-writes.ts'
import type { Booked } from './booking-index.ts'

export type Period = { start: Date; end: Date }

/**
 * `lost`: an unknown payment without an attempt may have been sent in lost writes, under names that derive from the payment. A late
 * success counts as paid once it is resolved. A booking without a receipt may be listed at any time until its success was known.
 */
const paymentsSql = `
   select 'payment' as kind, p.id, p.rail, a.id as "attemptId", a.reference, a.order_id as "orderId", a.provider_conversation as conversation,
     json_build_object('at', coalesce(a.created_at, lost.at), 'until', coalesce(a.created_at, lost.until), 'payeeMask', b.destination_mask,
       'accountReference', p.account_reference) as sent,
     case when lost.until is not null then json_build_object('id', p.id, 'accountId', p.account_id, 'workspaceId', p.workspace_id,
       'idempotencyKey', p.idempotency_key, 'batchKey', ${batchKeySql('p')}, 'batchIndex', p.batch_index) end as lost,
     coalesce(p.provider_receipt, p.late_success_receipt) as receipt,
     -coalesce(p.late_success_amount_minor, p.amount_minor) as "amountMinor",
     case when p.late_success_resolution = 'written_off' then 0 else coalesce(p.fee_minor, 0) end as "feeMinor",
     case when p.late_success_resolution is null then p.status else 'succeeded' end as status, coalesce(p.completed_at, p.updated_at) as at,
     case when p.status = 'unknown' then array(select unnest(array[n.id::text, n.order_id::text, n.reference, n.provider_request, n.provider_conversation])
       from rail_attempts n where n.subject_id = p.id) end as names
   from payments p join beneficiaries b on b.id = p.beneficiary_id
     left join lateral (select id, reference, order_id, provider_conversation, created_at from rail_attempts where subject_id = p.id order by created_at desc limit 1) a on true
     left join lateral (select coalesce(p.execute_at, p.created_at) as at, min(l.noticed_at) as until from write_losses l
       where a.id is null and p.status = 'unknown' and ${predatesLossSql('l', 'p')} having count(*) > 0) lost on true
   where p.rail = any($1::text[]) and (p.status = 'unknown' or (p.status in ${paidPaymentsSql} and (p.completed_at between $2 and $3
       or (p.provider_receipt is null and p.created_at <= $3 and p.completed_at >= $2))) or p.provider_receipt = any($4::text[]) or p.late_success_receipt = any($4::text[])
     or p.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1)
     or p.id in (select subject_id from rail_attempts where id = any($6::uuid[])))`

const promptsSql = `
   select 'topup', t.id, t.method, a.id, a.reference, a.order_id, null,
     json_build_object('at', a.created_at, 'until', a.created_at, 'payeeMask', t.phone_mask, 'accountReference', a.reference),
     null, t.provider_receipt, t.amount_minor, 0, t.status, coalesce(t.completed_at, t.updated_at), null
   from topups t left join lateral (select id, reference, order_id, created_at from rail_attempts where subject_id = t.id order by created_at desc limit 1) a on true
   where t.method = any($1::text[]) and t.deposit_code is null and ((t.status = 'succeeded' and (t.completed_at between $2 and $3
       or (t.provider_receipt is null and t.created_at <= $3 and t.completed_at >= $2))) or t.provider_receipt = any($4::text[])
     or t.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1))`

const depositsSql = `
   select case when d.topup_id is null then 'deposit' else 'topup' end, coalesce(d.topup_id, d.id), d.rail, null, null, null, null, null, null, d.receipt,
     d.amount_minor, 0, case when s.outcome = 'reversed' then 'returned' else 'succeeded' end, d.paid_at, null
   from deposits d left join suspense_items s on s.id = d.suspense_id and d.state = 'suspense'
   where d.rail = any($1::text[]) and d.state in ('credited', 'suspense') and (d.paid_at between $2 and $3 or d.receipt = any($4::text[]))`

const bookedMovements = statement('reconciliation.booked')`${paymentsSql} union all ${promptsSql} union all ${depositsSql}`

/** Times from JSON are strings. They are null if no attempt can have been sent. */
type Row = Omit<Booked, 'names' | 'sent'> & {
  feeMinor: Minor
  names: (string | null)[] | null
  sent: (Omit<NonNullable<Booked['sent']>, 'at' | 'until'> & { at: string | null; until: string | null }) | null
  lost: Parameters<typeof seedOf>[0] | null
}

export const readBooked = async (
  db: Db,
  rails: readonly string[],
  period: Period,
  listed: { receipts: readonly string[]; references: readonly string[]; attemptIds: readonly Uuid[] },
  orderNames: OrderNames,
): Promise<(Booked & Pick<Row, 'feeMinor'>)[]> => {
  const values = [rails, period.start, period.end, listed.receipts, listed.references, listed.attemptIds]
  const rows = await db.query<Row>(bookedMovements, values)
  return rows.map(({ sent, lost, names: known, ...row }) => {
    // Release 0.4.0 and earlier named the items of a batch by their own ids, even if the batch had a key.
    const orders = lost ? [lost, { ...lost, batchKey: null }].map((each) => orderNames.orderOf(seedOf(each), 0)) : []
    const isListed = ({ orderId, reference }: (typeof orders)[number]) =>
      listed.references.some((name) => name === orderId || name === reference)
    const order = orders.find(isListed) ?? orders[0]
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
