import { asc, eq } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type Db, statement } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { ledgerAccounts, ledgerTransfers } from '../db/tables/ledger.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import type { RailName } from '../lib/rail-names.ts'
import { bookingColumns, bookingsSql, dayNumber, hourTotalsSql, isBooking, isBookingType, periodSql } from './hours.ts'
import { createdBetweenSql, transferIds } from './id-bounds.ts'

export { transferKinds } from '../db/tables/ledger.ts'

const sides = ['debitsMinor', 'creditsMinor', 'pendingDebitsMinor', 'pendingCreditsMinor'] as const
type Sides = Record<(typeof sides)[number], Minor>
export type TrialBalanceLine = Sides & { code: string }

export const totalsOf = (lines: readonly TrialBalanceLine[]): Sides =>
  Object.fromEntries(sides.map((side) => [side, lines.reduce((sum, line) => sum + line[side], 0n)])) as Sides

export const trialBalance = (db: Db): Promise<TrialBalanceLine[]> =>
  db.query(`
    with moved as (
      select t.debit_account_id, t.credit_account_id, t.kind, sum(t.amount_minor) as amount_minor,
        t.kind = 'pending' and e.id is null as open
      from ledger_transfers t left join ledger_transfers e on e.pending_id = t.id group by 1, 2, 3, 5
    ), sides as (
      select debit_account_id as account_id, 'debit' as side, kind, amount_minor, open from moved
      union all select credit_account_id, 'credit', kind, amount_minor, open from moved
    )
    select case a.kind when 'customer' then 'customers' else a.code end as code,
      coalesce(sum(s.amount_minor) filter (where s.side = 'debit' and s.kind in ('direct', 'post')), 0)::bigint as "debitsMinor",
      coalesce(sum(s.amount_minor) filter (where s.side = 'credit' and s.kind in ('direct', 'post')), 0)::bigint as "creditsMinor",
      coalesce(sum(s.amount_minor) filter (where s.side = 'debit' and s.open), 0)::bigint as "pendingDebitsMinor",
      coalesce(sum(s.amount_minor) filter (where s.side = 'credit' and s.open), 0)::bigint as "pendingCreditsMinor"
    from ledger_accounts a left join sides s on s.account_id = a.id group by 1, a.kind order by a.kind, 1`)

const debit = alias(ledgerAccounts, 'd')
const credit = alias(ledgerAccounts, 'c')

const transfersOf = prepare('ledger.transfers_of', { referenceId: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({
      id: ledgerTransfers.id,
      kind: ledgerTransfers.kind,
      pendingId: ledgerTransfers.pendingId,
      debit: debit.kind,
      credit: credit.kind,
      amountMinor: ledgerTransfers.amountMinor,
      createdAt: ledgerTransfers.createdAt,
    })
    .from(ledgerTransfers)
    .innerJoin(debit, eq(debit.id, ledgerTransfers.debitAccountId))
    .innerJoin(credit, eq(credit.id, ledgerTransfers.creditAccountId))
    .where(eq(ledgerTransfers.referenceId, param.referenceId))
    .orderBy(asc(ledgerTransfers.id)),
)

export const listTransfers = (db: Db, referenceId: Uuid) => db.run(transfersOf, { referenceId })

/**
 * The bookings of each day and the available balance at its end. Holds are neither in nor out; a returned payment is in. $5:
 * restricts the bookings to the payments of this workspace.
 */
const flow = statement('ledger.flow')`
  with ${periodSql('$2::timestamptz', '$3::timestamptz', '$4')},
   moved as (select day, sum(came_in) as came_in, sum(went_out) as went_out from (
     select ${dayNumber('h.hour', '$4')} as day, h.came_in_minor as came_in, h.went_out_minor as went_out from ${hourTotalsSql('$1::uuid')}
     where ${isBookingType('h')} and ($5::uuid is null or h.workspace_id = $5::uuid)
     union all
     select ${dayNumber('l.at', '$4')}, greatest(l.amount_minor, 0), greatest(-l.amount_minor, 0)
     from edges e cross join lateral (select ${bookingColumns} from ${bookingsSql('$1::uuid', 'e.begins', 'e.ends')}) as l
     where $5::uuid is null or l.reference_type in ('payment', 'fee') and exists (select from payments p where p.id = l.reference_id and p.workspace_id = $5::uuid)) as m
     group by day)
   select coalesce(m.came_in, 0)::bigint as "inMinor", coalesce(m.went_out, 0)::bigint as "outMinor",
     case when $5::uuid is null then coalesce((
       select t.available_after_minor from ledger_transfers t
       where t.customer_account_id = any(array[$1::uuid]) and t.created_at < d.ends and t.id < ${transferIds.upperBound('$1::uuid', 'd.ends')}
       order by t.customer_account_id desc, t.id desc limit 1), 0) end as "availableMinor"
   from (select day, lead(starts, 1, $3::timestamptz) over (order by day) as ends from unnest($4::timestamptz[]) with ordinality as s(starts, day)) as d
     left join moved m using (day) order by day`

type Flow = { inMinor: Minor; outMinor: Minor; availableMinor: Minor | null }

/** Returns one row for each of `starts`. The available balance is the whole account's, so it is null for a single workspace. */
export const readFlow = (
  db: Db,
  ownerId: Uuid,
  { starts, ends, workspaceId = null }: { starts: readonly Date[]; ends: Date; workspaceId?: Uuid | null },
): Promise<Flow[]> => db.query(flow, [ownerId, starts[0], ends, starts, workspaceId])

const feesByDay = statement('ledger.fees')`
  select (t.created_at at time zone 'Africa/Nairobi')::date::text as date, p.rail, count(*)::int as count, sum(t.amount_minor)::bigint as "feesMinor"
   from ledger_transfers t join payments p on p.id = t.reference_id
   where t.reference_type = 'fee' and ${isBooking} and ${createdBetweenSql('ledger_transfers', '$1::timestamptz', '$2::timestamptz')}
   group by 1, 2 order by 1, 2`

type FeesOfDay = { date: string; rail: RailName; count: number; feesMinor: Minor }

/** Booked fees by day in Nairobi time, as providers count days. */
export const readFees = (db: Db, begins: Date, ends: Date): Promise<FeesOfDay[]> => db.query(feesByDay, [begins, ends])
