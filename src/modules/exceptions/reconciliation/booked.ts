import type { OrderNames } from '../../../auth/order-names.ts'
import { type Db, statement } from '../../../db/client.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { batchKeySql, predatesLossSql, seedOf } from '../../payments/lost-writes.ts'
import type { Booked } from './booking-index.ts'

export type Period = { start: Date; end: Date }

/** A late success is paid once resolved. A booking without a receipt may be listed at any time until its success is known. */
const paymentsSql = `
  select 'payment' as kind, payment.id, payment.rail, attempt.id as "attemptId", attempt.reference, attempt.order_id as "orderId",
     attempt.provider_conversation as conversation,
     coalesce(attempt.created_at, loss.sent_from) as "sentFrom", coalesce(attempt.created_at, loss.sent_until) as "sentUntil",
     beneficiary.destination_mask as "payeeMask", payment.account_reference as "accountReference",
     case when loss.sent_until is not null then json_build_object('id', payment.id, 'accountId', payment.account_id,
       'workspaceId', payment.workspace_id, 'idempotencyKey', payment.idempotency_key, 'batchKey', ${batchKeySql('payment')},
       'batchIndex', payment.batch_index) end as lost,
     coalesce(payment.provider_receipt, payment.late_success_receipt) as receipt,
     -coalesce(payment.late_success_amount_minor, payment.amount_minor) as "amountMinor",
     case when payment.late_success_resolution = 'written_off' then 0 else coalesce(payment.fee_minor, 0) end as "feeMinor",
     case when payment.late_success_resolution is null then payment.status else 'succeeded' end as status,
     coalesce(payment.completed_at, payment.updated_at) as at,
     case when payment.status = 'unknown' then array(
       select unnest(array[id::text, order_id::text, reference, provider_request, provider_conversation])
       from rail_attempts where subject_id = payment.id) end as names
   from payments payment join beneficiaries beneficiary on beneficiary.id = payment.beneficiary_id
     left join lateral (select id, reference, order_id, provider_conversation, created_at from rail_attempts
       where subject_id = payment.id order by created_at desc limit 1) attempt on true
     -- An unknown payment without an attempt may have been sent in lost writes, under names that derive from the payment.
     left join lateral (
       select coalesce(payment.execute_at, payment.created_at) as sent_from, min(w.noticed_at) as sent_until from write_losses w
       where attempt.id is null and payment.status = 'unknown' and ${predatesLossSql('w', 'payment')}
       having count(*) > 0) loss on true
   where payment.rail = any($1::text[]) and (payment.status = 'unknown'
     or (payment.status in ${paidPaymentsSql} and (payment.completed_at between $2 and $3
       or (payment.provider_receipt is null and payment.created_at <= $3 and payment.completed_at >= $2)))
     or payment.provider_receipt = any($4::text[]) or payment.late_success_receipt = any($4::text[])
     or payment.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1)
     or payment.id in (select subject_id from rail_attempts where id = any($6::uuid[])))`

/** A prompt's payer sees our reference as the account. */
const promptsSql = `
  select 'topup' as kind, topup.id, topup.method as rail, attempt.id as "attemptId", attempt.reference,
     attempt.order_id as "orderId", null as conversation,
     attempt.created_at as "sentFrom", attempt.created_at as "sentUntil", topup.phone_mask as "payeeMask",
     attempt.reference as "accountReference",
     null as lost, topup.provider_receipt as receipt, topup.amount_minor as "amountMinor", 0 as "feeMinor", topup.status,
     coalesce(topup.completed_at, topup.updated_at) as at, null as names
   from topups topup
     left join lateral (select id, reference, order_id, created_at from rail_attempts
       where subject_id = topup.id order by created_at desc limit 1) attempt on true
   where topup.method = any($1::text[]) and topup.deposit_code is null and ((topup.status = 'succeeded'
       and (topup.completed_at between $2 and $3
         or (topup.provider_receipt is null and topup.created_at <= $3 and topup.completed_at >= $2)))
     or topup.provider_receipt = any($4::text[])
     or topup.id in (select subject_id from rail_attempts where reference = any($5::text[]) and send = 1))`

/** A deposit in suspense belongs to no top-up. */
const depositsSql = `
  select case when deposit.topup_id is null then 'deposit' else 'topup' end as kind, coalesce(deposit.topup_id, deposit.id) as id,
     deposit.rail, null as "attemptId", null as reference, null as "orderId", null as conversation,
     null as "sentFrom", null as "sentUntil", null as "payeeMask", null as "accountReference",
     null as lost, deposit.receipt, deposit.amount_minor as "amountMinor", 0 as "feeMinor",
     case when item.outcome = 'reversed' then 'returned' else 'succeeded' end as status, deposit.paid_at as at, null as names
   from deposits deposit left join suspense_items item on item.id = deposit.suspense_id and deposit.state = 'suspense'
   where deposit.rail = any($1::text[]) and deposit.state in ('credited', 'suspense')
     and (deposit.paid_at between $2 and $3 or deposit.receipt = any($4::text[]))`

const bookedMovements = statement('reconciliation.booked')`${paymentsSql} union all ${promptsSql} union all ${depositsSql}`

type Sent = NonNullable<Booked['sent']>
/** Both times are null if nothing was sent. */
type Row = Omit<Booked, 'names' | 'sent'> &
  Omit<Sent, 'at' | 'until'> & {
    feeMinor: Minor
    names: (string | null)[] | null
    sentFrom: Date | null
    sentUntil: Date | null
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
  return rows.map(({ sentFrom, sentUntil, payeeMask, accountReference, lost, names, ...row }) => {
    // Release 0.4.0 and earlier named the items of a batch by their own ids, even if the batch had a key.
    const orders = lost ? [lost, { ...lost, batchKey: null }].map((each) => orderNames.orderOf(seedOf(each), 0)) : []
    const isListed = ({ orderId, reference }: (typeof orders)[number]) =>
      listed.references.some((name) => name === orderId || name === reference)
    const order = orders.find(isListed) ?? orders[0]
    return {
      ...row,
      ...order,
      names: [...(names ?? []), order?.orderId, order?.reference, row.receipt].flatMap((name) => name ?? []),
      sent: sentFrom && sentUntil && { at: sentFrom, until: sentUntil, payeeMask, accountReference },
    }
  })
}
