import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { bookedSql, bookingColumns, isBookingType, localDate, periodSql, storedSql } from './hours.ts'

export type DayFlow = { date: string; inMinor: Minor; outMinor: Minor }

const days = { zone: '$4::text', since: '$2::timestamptz' }

/** Money that came in and money that left; a hold is neither. A returned payment counts as coming in. */
const flow = statement(
  'ledger.flow',
  `with ${periodSql('$2::timestamptz', '$3::timestamptz', days)}
   select date::text, sum(came_in)::bigint as "inMinor", sum(went_out)::bigint as "outMinor" from (
     select ${localDate('h.hour', days)} as date, h.came_in_minor as came_in, h.went_out_minor as went_out from ${storedSql('$1::uuid')} where ${isBookingType('h')}
     union all
     select ${localDate('l.at', days)}, greatest(l.amount_minor, 0), greatest(-l.amount_minor, 0)
     from edges e cross join lateral (select ${bookingColumns} from ${bookedSql('$1::uuid', 'e.begins', 'e.ends')}) as l) as m
   group by date`,
)

/** Of the local days on which anything moved, from `begins` until before `ends`. */
export const readFlow = (
  db: Db,
  ownerId: Uuid,
  { zone, begins, ends }: { zone: string; begins: Date; ends: Date },
): Promise<DayFlow[]> => db.query<DayFlow>(flow, [ownerId, begins, ends, zone])
