import { type Db, statement } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { allRails } from '../../../lib/rail-names.ts'

/** A payment or top-up that a provider knows by a name. */
export type Traced = {
  kind: 'payment' | 'topup'
  id: Uuid
  accountId: Uuid
  status: string
  rail: string
  amountMinor: bigint | null
  providerReceipt: string | null
  createdAt: Date
}

const named = statement(
  'payments.trace',
  `with named(kind, id) as (
     select 'payment', id from payments where rail = any($2) and provider_receipt = $1
     union select 'topup', id from topups where method = any($2) and provider_receipt = $1
     union select kind, subject_id from rail_attempts where reference = $1 and send = 1)
   select n.kind, n.id, coalesce(p.account_id, t.account_id) as "accountId", coalesce(p.status, t.status) as status,
     coalesce(p.rail, t.method) as rail, coalesce(p.amount_minor, t.amount_minor) as "amountMinor",
     coalesce(p.provider_receipt, t.provider_receipt) as "providerReceipt", coalesce(p.created_at, t.created_at) as "createdAt"
   from named n left join payments p on n.kind = 'payment' and p.id = n.id left join topups t on n.kind = 'topup' and t.id = n.id`,
)

/** What a line of a provider's statement is about: `name` is its receipt, or the reference that we gave the order. */
export const traceByProviderName = (db: Db, name: string): Promise<Traced[]> => db.query<Traced>(named, [name, allRails])
