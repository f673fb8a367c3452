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

const columns = (kind: 'payment' | 'topup', rail: string) =>
  `select '${kind}' as kind, m.id, m.account_id as "accountId", m.status, ${rail} as rail, m.amount_minor as "amountMinor",
     m.provider_receipt as "providerReceipt", m.created_at as "createdAt"`

const named = statement(
  'payments.trace',
  `${columns('payment', 'm.rail')} from payments m where m.rail = any($2) and m.provider_receipt = $1
   union ${columns('topup', 'm.method')} from topups m where m.method = any($2) and m.provider_receipt = $1
   union ${columns('payment', 'm.rail')} from rail_attempts t join payments m on m.id = t.subject_id where t.reference = $1 and t.send = 1
   union ${columns('topup', 'm.method')} from rail_attempts t join topups m on m.id = t.subject_id where t.reference = $1 and t.send = 1`,
)

/** What a line of a provider's statement is about: `name` is its receipt, or the reference that we gave the order. */
export const traceByProviderName = (db: Db, name: string): Promise<Traced[]> => db.query<Traced>(named, [name, allRails])
