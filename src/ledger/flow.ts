import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'

export type DayFlow = { date: string; inMinor: Minor; outMinor: Minor }

/**
 * Money that came in and money that left, by local day; a hold is neither. A returned payment counts as coming in.
 * `$3`: the first local date.
 */
const flow = statement(
  'ledger.flow',
  `select to_char(t.created_at at time zone $2, 'YYYY-MM-DD') as date,
     coalesce(sum(t.amount_minor) filter (where t.kind = 'direct' and t.credit_account_id = t.customer_account_id), 0)::text as in_minor,
     coalesce(sum(t.amount_minor) filter (where t.kind = 'post' or (t.kind = 'direct' and t.debit_account_id = t.customer_account_id)), 0)::text as out_minor
   from ledger_transfers t
   where t.customer_account_id = (select id from ledger_accounts where owner_id = $1)
     and t.created_at >= $3::date::timestamp at time zone $2
   group by 1`,
)

export const readFlow = async (db: Db, ownerId: Uuid, timeZone: string, from: string): Promise<DayFlow[]> => {
  const rows = await db.query<{ date: string; in_minor: string; out_minor: string }>(flow, [ownerId, timeZone, from])
  return rows.map((row) => ({ date: row.date, inMinor: BigInt(row.in_minor), outMinor: BigInt(row.out_minor) }))
}
