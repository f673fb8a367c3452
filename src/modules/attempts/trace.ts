import { type Db, statement } from '../../db/client.ts'
import { owningAccountSql } from '../../db/tables/workspaces.ts'
import type { Uuid } from '../../lib/ids.ts'
import { allRails, providers } from '../../lib/rail-names.ts'
import { receiptForms } from '../../lib/text.ts'

export type TracedSubject = {
  kind: 'payment' | 'topup'
  id: Uuid
  accountId: Uuid
  status: string
  rail: string
  amountMinor: bigint | null
  providerReceipt: string | null
  createdAt: Date
}

/** A late success has its receipt's claim. */
const traceStatement = statement('payments.trace')`
  with named(kind, id) as (
     select 'payment', id from payments where rail = any($2) and provider_receipt = any($1)
     union select 'payment', owner_id from receipt_claims where provider = any($3) and direction = 'out' and owner_kind = 'payment' and receipt_key = any($1)
     union select 'topup', id from topups where method = any($2) and provider_receipt = any($1)
     union select kind, subject_id from rail_attempts where reference = any($1) and send = 1)
   select n.kind, n.id, ${owningAccountSql('coalesce(p.account_id, t.account_id)')} as "accountId", coalesce(p.status, t.status) as status,
     coalesce(p.rail, t.method) as rail, coalesce(p.amount_minor, t.amount_minor) as "amountMinor",
     coalesce(p.provider_receipt, p.late_success_receipt, t.provider_receipt) as "providerReceipt", coalesce(p.created_at, t.created_at) as "createdAt"
   from named n left join payments p on n.kind = 'payment' and p.id = n.id left join topups t on n.kind = 'topup' and t.id = n.id`

/** `name`: a receipt, or our reference of the order. */
export const traceByProviderName = (db: Db, name: string): Promise<TracedSubject[]> =>
  db.query<TracedSubject>(traceStatement, [receiptForms(name), allRails, providers])
