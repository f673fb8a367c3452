import { eq } from 'drizzle-orm'
import { type Db, statement } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { type BookingType, ledgerTransfers } from '../db/tables/ledger.ts'
import { keyList, readTogether } from '../db/together.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { only } from '../lib/only.ts'
import { madeOnce, memoised } from '../lib/shared.ts'
import { idAhead, idBehind } from './booked-between.ts'
import { hourOf, never, spansOf } from './booking-spans.ts'
import {
  bookedSql,
  bookingColumns,
  bookingType,
  isBooking,
  type NamedSpan,
  spansOfValues,
  spanTypes,
  spanValues,
} from './booking-totals.ts'

export { bookingTypes as statementTypes } from '../db/tables/ledger.ts'

/** An account's bookings from `start` until before `end`; with a workspace, those of its payments alone. */
export type StatementOf = {
  ownerId: Uuid
  workspaceId: Uuid | null
  start: Date
  end: Date
  /** Whose payees may be named: of one workspace, of all, or of none. */
  payeesOf: Uuid | 'all' | 'none'
}

/** A year of a busy account may have more payees than anybody reads. */
const mostPayees = 1_000

const summaryKey = {
  account_id: 'uuid',
  starts: 'timestamptz',
  ends: 'timestamptz',
  workspace_id: 'uuid',
  payees_of: 'text',
} as const
const entriesKey = { ...summaryKey, after: 'uuid', through: 'uuid', take: 'int', balance: 'bigint' } as const

/**
 * Bookings only: money under a hold has not left. The opening balance is counted back from the account's present totals, over what was booked
 * `since` the start, so that the opening balance of one statement is the closing balance of the one before whatever their lengths.
 */
const summary = readTogether<SummaryRow, typeof summaryKey, typeof spanTypes>(
  'ledger.statement_summary',
  summaryKey,
  `with ${bookedSql('key.account_id', keyList)},
   moved as (
     select s.label, s.type, s.workspace_id, s.beneficiary_id, s.entries, s.came_in_minor, s.went_out_minor from stored s
     union all
     select l.label, ${bookingType('l')}, p.workspace_id, p.beneficiary_id, 1, greatest(l.amount_minor, 0), greatest(-l.amount_minor, 0)
     from loose l left join lateral (
       select workspace_id, beneficiary_id from payments where l.label <> 'since' and l.reference_type = 'payment' and id = l.reference_id offset 0) as p on true),
   period as (select * from moved where label = 'period' and (key.workspace_id is null or workspace_id = key.workspace_id)),
   payees as (
     select beneficiary_id as id, sum(entries) as entries, sum(came_in_minor) as came_in, sum(went_out_minor) as went_out from moved
     where label = 'payees' and beneficiary_id is not null and (key.workspace_id is null or workspace_id = key.workspace_id) and (key.payees_of = 'all' or workspace_id::text = key.payees_of)
     group by 1 order by 4 desc, 1 limit ${mostPayees})
   select (select posted_credits_minor - posted_debits_minor - coalesce((select sum(came_in_minor - went_out_minor) from moved where label = 'since'), 0)
       from ledger_accounts where id = key.account_id)::text as opening,
     (select t.id from ledger_transfers t where t.customer_account_id = any(array[key.account_id]) and t.created_at >= key.starts and t.created_at < key.ends and ${isBooking}
       and (t.customer_account_id, t.id) > (key.account_id, ${idBehind('key.account_id', 'key.starts')})
       and (t.customer_account_id, t.id) < (key.account_id, ${idAhead('key.account_id', 'key.ends')}) order by t.customer_account_id desc, t.id desc limit 1) as through,
     coalesce((select sum(came_in_minor) from period), 0)::text as came_in, coalesce((select sum(went_out_minor) from period), 0)::text as went_out,
     coalesce((select json_agg(row_to_json(t) order by t.type) from (
       select type, sum(entries)::int as entries, sum(came_in_minor)::text as came_in, sum(went_out_minor)::text as went_out
       from period group by type) t), '[]') as by_type,
     coalesce((select json_agg(row_to_json(t) order by t.went_out::numeric desc, t.id) from (
       select m.id, b.display_name, m.entries::int, m.came_in::text, m.went_out::text
       from payees m cross join lateral (select display_name from beneficiaries where id = m.id offset 0) as b) t), '[]') as by_payee`,
  'pool',
  { list: spanTypes },
)

/** In the order of their ids. `balance`: before the first of them. */
const entries = readTogether<EntryRow, typeof entriesKey>(
  'ledger.statement_entries',
  entriesKey,
  `with page as (
     select ${bookingColumns}, p.id as payment_id, p.beneficiary_id, p.workspace_id, p.account_reference, p.narrative, p.metadata,
       p.provider_receipt, p.initiator_account_id, p.approval_id
     from ledger_transfers t left join payments p on t.reference_type = 'payment' and p.id = t.reference_id
     where t.customer_account_id = any(array[key.account_id]) and ${isBooking} and t.created_at >= key.starts and t.created_at < key.ends and (key.workspace_id is null or p.workspace_id = key.workspace_id)
       and (t.customer_account_id, t.id) > (key.account_id, coalesce(key.after, ${idBehind('key.account_id', 'key.starts')}))
       and (t.customer_account_id, t.id) <= (key.account_id, key.through)
     order by t.customer_account_id, t.id limit key.take)
   select m.id, m.at, ${bookingType('m')} as type, m.amount_minor::text as amount_minor,
     (key.balance + sum(m.amount_minor) over (order by m.id))::text as balance_after_minor, m.payment_id,
     u.id as topup_id, b.id as beneficiary_id, b.display_name as payee, m.account_reference as reference, m.narrative,
     coalesce(m.metadata, u.metadata, '{}') as metadata, coalesce(d.receipt, m.provider_receipt, u.provider_receipt) as provider_receipt,
     coalesce(m.initiator_account_id, u.initiator_account_id) as requested_by,
     coalesce((select array_agg(distinct x.account_id) from approval_decisions x where x.approval_id = m.approval_id and x.decision = 'approve'
       and not exists (select from approval_voids v where v.decision_id = x.id)), '{}') as approved_by
   from page m
     left join deposits d on d.id = case m.reference_type when 'deposit' then m.reference_id end
     left join topups u on u.id = case m.reference_type when 'topup' then m.reference_id when 'deposit' then d.topup_id end
     left join beneficiaries b on b.id = m.beneficiary_id and (key.payees_of = 'all' or m.workspace_id::text = key.payees_of)
   order by m.id`,
  'pool',
  {
    fields: [
      'id',
      'at',
      'type',
      'amount_minor',
      'balance_after_minor',
      'payment_id',
      'topup_id',
      'beneficiary_id',
      'payee',
      'reference',
      'narrative',
      'metadata',
      'provider_receipt',
      'requested_by',
      'approved_by',
    ],
  },
)

export type StatementTotal = { entries: number; inMinor: Minor; outMinor: Minor }
export type StatementSummary = {
  openingMinor: Minor
  closingMinor: Minor
  inMinor: Minor
  outMinor: Minor
  byType: (StatementTotal & { type: BookingType })[]
  byPayee: (StatementTotal & { id: Uuid; displayName: string })[]
  /** The last booking that it counts; null when there is none. */
  through: Uuid | null
}

type TotalRow = { entries: number; came_in: string; went_out: string }
type SummaryRow = {
  opening: string
  through: Uuid | null
  came_in: string
  went_out: string
  by_type: (TotalRow & { type: BookingType })[]
  by_payee: (TotalRow & { id: Uuid; display_name: string })[]
}

const totalOf = ({ entries: count, came_in, went_out }: TotalRow): StatementTotal => ({
  entries: count,
  inMinor: BigInt(came_in),
  outMinor: BigInt(went_out),
})

const named = (label: string, spans: ReturnType<typeof spansOf>): NamedSpan[] => spans.map((span) => ({ ...span, label }))

/** By the two bounds in milliseconds, and whether payees may be named: statements of a day have the same ones. */
const spansFor = memoised((key) => {
  const [begins, ends, payees] = key.split(' ')
  const [start, end] = [new Date(Number(begins)), new Date(Number(ends))]
  return [
    ...named('since', spansOf(start, never)),
    ...named('period', spansOf(start, end)),
    ...(payees === 'none' ? [] : named('payees', spansOf(start, end, 'by payee'))),
  ]
}, 64)

/** The balances and sums of a statement. For a workspace the balances are those of the account, and mean nothing. */
export const readStatementSummary = async (db: Db, of: StatementOf): Promise<StatementSummary> => {
  const { ownerId, start, end, workspaceId, payeesOf } = of
  const spans = spansFor([start.getTime(), end.getTime(), payeesOf === 'none' ? 'none' : 'all'].join(' '))
  const key = { account_id: ownerId, starts: start, ends: end, workspace_id: workspaceId, payees_of: payeesOf }
  const [row] = await summary(db, { ...key, list: spans })
  if (!row) throw new Error('a statement has no summary')
  const [openingMinor, inMinor, outMinor] = [row.opening, row.came_in, row.went_out].map(BigInt) as [Minor, Minor, Minor]
  return {
    openingMinor,
    inMinor,
    outMinor,
    closingMinor: openingMinor + inMinor - outMinor,
    byType: row.by_type.map((each) => ({ ...totalOf(each), type: each.type })),
    byPayee: row.by_payee.map((each) => ({ ...totalOf(each), id: each.id, displayName: each.display_name })),
    through: row.through,
  }
}

export type StatementEntry = {
  id: Uuid
  at: Date
  type: BookingType
  amountMinor: Minor
  balanceAfterMinor: Minor
  paymentId: Uuid | null
  topupId: Uuid | null
  payee: { id: Uuid; displayName: string } | null
  reference: string | null
  narrative: string | null
  metadata: Record<string, string>
  providerReceipt: string | null
  requestedBy: Uuid | null
  approvedBy: Uuid[]
}

type EntryRow = {
  id: Uuid
  at: Date
  type: BookingType
  amount_minor: string
  balance_after_minor: string
  payment_id: Uuid | null
  topup_id: Uuid | null
  beneficiary_id: Uuid | null
  payee: string | null
  reference: string | null
  narrative: string | null
  metadata: Record<string, string>
  provider_receipt: string | null
  requested_by: Uuid | null
  approved_by: Uuid[]
}

const bookedAt = prepare('ledger.booked_at', { id: 'uuid' }, (orm, at) =>
  orm.select({ at: ledgerTransfers.createdAt }).from(ledgerTransfers).where(eq(ledgerTransfers.id, at.id)),
)

/**
 * The balance behind booking $8: that of an hour before it, and what was booked from there. Ids are in the order of the times, but for bookings
 * of processes whose clocks differ: $7 is the hour, and those of the period, $6 to $9, count by their ids.
 */
const balanceAfter = statement(
  'ledger.balance_after',
  `with ${bookedSql('$1', spansOfValues)}
   select (posted_credits_minor - posted_debits_minor
     - coalesce((select sum(came_in_minor - went_out_minor) from stored), 0) - coalesce((select sum(amount_minor) from loose), 0)
     + coalesce((select sum(case when t.created_at >= $7 and t.id <= $8 then 1 when t.created_at < $7 and t.id > $8 then -1 else 0 end
           * case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end)
         from ledger_transfers t where t.customer_account_id = $1 and ${isBooking} and t.created_at >= $6 and t.created_at < $9
           and (t.customer_account_id, t.id) > ($1, ${idBehind('$1', '$7::timestamptz')})
           and (t.customer_account_id, t.id) <= ($1, greatest($8::uuid, ${idAhead('$1', '$7::timestamptz')}))), 0))::text as minor
   from ledger_accounts where id = $1`,
)

const balanceBehind = async (db: Db, { ownerId, start, end }: StatementOf, after: Uuid): Promise<string> => {
  const booking = only(await db.run(bookedAt, { id: after }))
  const hour = hourOf(booking.at)
  const from = hour > start ? hour : start
  const values = [...spanValues(ownerId, named('since', spansOf(from, never))), start, from, after, end]
  const [row] = await db.query<{ minor: string }>(balanceAfter, values)
  return row?.minor ?? '0'
}

type EntriesPage = { after: Uuid | null; take: number; summary: Pick<StatementSummary, 'openingMinor' | 'through'> }

const entryOf = madeOnce(
  (row: EntryRow): StatementEntry => ({
    id: row.id,
    at: row.at,
    type: row.type,
    amountMinor: BigInt(row.amount_minor),
    balanceAfterMinor: BigInt(row.balance_after_minor),
    paymentId: row.payment_id,
    topupId: row.topup_id,
    payee: row.beneficiary_id === null ? null : { id: row.beneficiary_id, displayName: row.payee ?? '' },
    reference: row.reference,
    narrative: row.narrative,
    metadata: row.metadata,
    providerReceipt: row.provider_receipt,
    requestedBy: row.requested_by,
    approvedBy: row.approved_by,
  }),
)

/** Its bookings after `after`, oldest first, up to the one that its summary counted last. */
export const listStatementEntries = async (
  db: Db,
  of: StatementOf,
  { after, take, summary: { openingMinor, through } }: EntriesPage,
): Promise<StatementEntry[]> => {
  const balance = after === null ? openingMinor : await balanceBehind(db, of, after)
  const { ownerId, start, end, workspaceId, payeesOf } = of
  const key = { account_id: ownerId, starts: start, ends: end, workspace_id: workspaceId, payees_of: payeesOf }
  const rows = await entries(db, { ...key, after, through, take, balance })
  return rows.map((row) => entryOf(row))
}
