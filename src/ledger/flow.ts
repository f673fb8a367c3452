import type { Db } from '../db/client.ts'
import { keyList, readTogether } from '../db/together.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { spansOf } from './booking-spans.ts'
import { bookedSql, type NamedSpan, spanTypes } from './booking-totals.ts'

/** `begins` and `ends`: its instants in the time zone of whoever reads it. */
export type Day = { date: string; begins: Date; ends: Date }
export type DayFlow = { date: string; inMinor: Minor; outMinor: Minor }

/** Money that came in and money that left; a hold is neither. A returned payment counts as coming in. */
const flow = readTogether<{ date: string; in_minor: string; out_minor: string }, { account_id: 'uuid' }, typeof spanTypes>(
  'ledger.flow',
  { account_id: 'uuid' },
  `with ${bookedSql('key.account_id', keyList)}
   select label as date, sum(came_in_minor)::text as in_minor, sum(went_out_minor)::text as out_minor
   from (select label, came_in_minor, went_out_minor from stored
         union all select label, greatest(amount_minor, 0), greatest(-amount_minor, 0) from loose) as moved
   group by label`,
  'pool',
  { list: spanTypes },
)

const spansOfDays = new WeakMap<readonly Day[], NamedSpan[]>()
/** Kept with the days. */
const daySpans = (days: readonly Day[]): NamedSpan[] => {
  const known = spansOfDays.get(days)
  if (known) return known
  const spans = days.flatMap(({ date, begins, ends }) => spansOf(begins, ends).map((span) => ({ ...span, label: date })))
  spansOfDays.set(days, spans)
  return spans
}

/** Of the days on which anything moved. Requests with the same list of days, one object, share what is sent of it. */
export const readFlow = async (db: Db, ownerId: Uuid, days: readonly Day[]): Promise<DayFlow[]> => {
  const rows = await flow(db, { account_id: ownerId, list: daySpans(days) })
  return rows.map((row) => ({ date: row.date, inMinor: BigInt(row.in_minor), outMinor: BigInt(row.out_minor) }))
}
