import { type Db, statement } from '../db/client.ts'
import { approversSql, type NamedPerson, personNameSql } from '../db/person-names-sql.ts'
import { prepareText } from '../db/prepare.ts'
import { selectRow } from '../db/select-rows.ts'
import { type BookingType, ledgerTransfers } from '../db/tables/ledger.ts'
import { found } from '../lib/errors.ts'
import { firstId, type Uuid } from '../lib/ids.ts'
import { only } from '../lib/lists.ts'
import type { Minor } from '../lib/money.ts'
import type { RailName } from '../lib/rail-names.ts'
import {
  balanceSql,
  bookingColumns,
  bookingsSql,
  bookingType,
  countedSql,
  hourTotalsSql,
  isBooking,
  isBookingType,
  paymentOfBookingSql,
  periodSql,
  signedAmount,
} from './hours.ts'
import { transferIds } from './id-bounds.ts'

// Features import no tables of the ledger.
export { bookingTypes } from '../db/tables/ledger.ts'

/** Bookings from `start`, inclusive, to `end`, exclusive. With a workspace, only those of its payments. */
export type StatementScope = {
  ownerId: Uuid
  workspaceId: Uuid | null
  start: Date
  end: Date
  /** Payments and top-ups of this workspace have their details. All others have only their amount, type and time. */
  detailsOf: Uuid | 'all'
  payeesOf: Uuid | 'all' | 'none'
}

/** Maximum number of payees of a summary: those that got most. */
const maxPayees = 1_000
/** Maximum number of uncounted bookings that an answer sums, which takes half a second. */
const maxUncountedRows = 50_000

const entriesKey = {
  account_id: 'uuid',
  starts: 'timestamptz',
  ends: 'timestamptz',
  workspace_id: 'uuid',
  details_of: 'text',
  payees_of: 'text',
  after: 'uuid',
  through: 'uuid',
  take: 'int',
  balance: 'bigint',
} as const

/** If there are too many bookings to sum, `rows` has one more than `maxUncountedRows`. */
const summary = statement('ledger.statement_summary')`
  with ${periodSql('$2::timestamptz', '$3::timestamptz')},
   rows as materialized (
     select l.* from edges e cross join lateral (select ${bookingColumns} from ${bookingsSql('$1::uuid', 'e.begins', 'e.ends')}) as l limit ${maxUncountedRows + 1}),
   is_pending as materialized (select count(*) > ${maxUncountedRows} as pending from rows),
   moved as (
     select h.type, h.workspace_id, nullif(h.beneficiary_id, '${firstId}') as beneficiary_id, h.entries, h.came_in_minor as came_in, h.went_out_minor as went_out
     from ${hourTotalsSql('$1::uuid')} where ${isBookingType('h')}
     union all
     select ${bookingType('l')}, p.workspace_id, p.beneficiary_id, 1, greatest(l.amount_minor, 0), greatest(-l.amount_minor, 0)
     from is_pending cross join rows l left join lateral ${paymentOfBookingSql('l')} as p on true
     where not pending),
   period as materialized (
     select type, workspace_id, beneficiary_id, sum(entries) as entries, sum(came_in) as came_in, sum(went_out) as went_out
     from moved where $4::uuid is null or workspace_id = $4::uuid group by 1, 2, 3),
   payees as (
     select beneficiary_id as id, sum(entries) as entries, sum(came_in) as came_in, sum(went_out) as went_out from period
     where beneficiary_id is not null and ($5::text = 'all' or workspace_id::text = $5::text)
     group by 1 order by 4 desc, 1 limit ${maxPayees})
   select ${balanceSql('$1::uuid', '$2::timestamptz')}::bigint as "openingMinor", ${balanceSql('$1::uuid', '$3::timestamptz')}::bigint as "closingMinor",
     (select t.id from ${bookingsSql('$1::uuid', '$2::timestamptz', '$3::timestamptz')} order by t.customer_account_id desc, t.id desc limit 1) as through,
     case when not pending then (select json_build_object('inMinor', coalesce(sum(came_in), 0)::text, 'outMinor', coalesce(sum(went_out), 0)::text,
       'byType', coalesce((select json_agg(row_to_json(t) order by t.type) from (
         select type, sum(entries)::int as entries, sum(came_in)::text as "inMinor", sum(went_out)::text as "outMinor"
         from period group by type) t), '[]'),
       'byPayee', coalesce((select json_agg(row_to_json(t) order by t."outMinor"::numeric desc, t.id) from (
         select m.id, b.display_name as "displayName", m.entries::int, m.came_in::text as "inMinor", m.went_out::text as "outMinor"
         from payees m cross join lateral (select display_name from beneficiaries where id = m.id offset 0) as b) t), '[]')) from period) end as sums
   from is_pending`

const isDetailed = (row: string): string => `(key.details_of = 'all' or ${row}.workspace_id::text = key.details_of)`

/** `balance`: the balance before the first entry. */
const entries = prepareText<StatementEntry>()(
  'ledger.statement_entries',
  entriesKey,
  `with page as (
     select ${bookingColumns}, p.id as payment_id, p.workspace_id, case t.reference_type when 'payment' then p.beneficiary_id end as beneficiary_id,
       coalesce(case when t.debit_account_id = t.customer_account_id and t.reference_type = 'payment' then p.fee_minor end, 0) as fee_minor,
       case t.reference_type when 'payment' then p.provider_receipt end as provider_receipt, p.account_reference, p.narrative, p.metadata, p.initiator_account_id, p.grant_id, p.approval_id, p.batch_id, p.batch_index, p.idempotency_key, p.rail, p.purpose_code
     from ledger_transfers t left join payments p on t.reference_type in ('payment', 'fee') and p.id = t.reference_id
     where t.customer_account_id = any(array[key.account_id]) and ${isBooking} and t.created_at >= key.starts and t.created_at < key.ends and (key.workspace_id is null or p.workspace_id = key.workspace_id)
       and (t.customer_account_id, t.id) > (key.account_id, coalesce(key.after, ${transferIds.lowerBound('key.account_id', 'key.starts')}))
       and (t.customer_account_id, t.id) <= (key.account_id, key.through)
     order by t.customer_account_id, t.id limit key.take)
   select m.id, m.at, ${bookingType('m')} as type, m.amount_minor as "amountMinor", m.fee_minor as "feeMinor",
     (key.balance + sum(m.amount_minor) over (order by m.id))::bigint as "balanceAfterMinor", m.payment_id as "paymentId",
     t.id as "topupId", b.id as "payeeId", b.display_name as "payeeName", b.destination_mask as "payeeMask", p.account_reference as reference, p.narrative,
     coalesce(p.metadata, u.metadata, '{}') as metadata, coalesce(u.deposit_receipt, p.provider_receipt, u.provider_receipt) as "providerReceipt",
     p.rail, p.purpose_code as "purposeCode", p.batch_id as "batchId", p.batch_index as "batchIndex",
     l.name as "batchName", coalesce(p.idempotency_key, l.idempotency_key, u.idempotency_key) as "idempotencyKey",
     coalesce(p.initiator_account_id, u.initiator_account_id) as "requestedBy",
     ${personNameSql('coalesce(p.initiator_account_id, u.initiator_account_id)')} as "requestedByName", g.label as "requestedThrough", g.id as "grantId",
     ${approversSql('p.approval_id')} as "approvedBy"
   from page m
     left join deposits d on d.id = case m.reference_type when 'deposit' then m.reference_id end
     left join topups t on t.id = case m.reference_type when 'topup' then m.reference_id when 'deposit' then d.topup_id end
     left join lateral (select m.* where ${isDetailed('m')}) as p on true
     left join lateral (select t.*, d.receipt as deposit_receipt where ${isDetailed('t')}) as u on true
     left join beneficiaries b on b.id = m.beneficiary_id and (key.payees_of = 'all' or m.workspace_id::text = key.payees_of)
     left join payment_batches l on l.id = p.batch_id
     left join grants g on g.id = coalesce(p.grant_id, u.grant_id)
   order by m.id`,
  'pool',
)

type StatementTotal = { entries: number; inMinor: string; outMinor: string }
/** Amounts are strings, because JSON numbers are not exact. */
type StatementSums = Omit<StatementTotal, 'entries'> & {
  byType: (StatementTotal & { type: BookingType })[]
  byPayee: (StatementTotal & { id: Uuid; displayName: string })[]
}
export type StatementSummary = {
  openingMinor: Minor
  closingMinor: Minor
  /** Null while too much of the period is uncounted. */
  sums: StatementSums | null
  through: Uuid | null
}

/** For a single workspace, the balances must be ignored: they are the whole account's. */
export const readStatementSummary = async (db: Db, scope: StatementScope): Promise<StatementSummary> =>
  only(await db.query<StatementSummary>(summary, [scope.ownerId, scope.start, scope.end, scope.workspaceId, scope.payeesOf]))

export type StatementEntry = {
  id: Uuid
  at: Date
  type: BookingType
  amountMinor: Minor
  /** Fee of a payment; the fee also has its own booking. */
  feeMinor: Minor
  balanceAfterMinor: Minor
  paymentId: Uuid | null
  topupId: Uuid | null
  payeeId: Uuid | null
  payeeName: string | null
  payeeMask: string | null
  rail: RailName | null
  purposeCode: string | null
  batchId: Uuid | null
  batchIndex: number | null
  batchName: string | null
  /** The `Idempotency-Key` of the request for the payment, its batch or the top-up. */
  idempotencyKey: string | null
  reference: string | null
  narrative: string | null
  metadata: Record<string, string>
  providerReceipt: string | null
  requestedBy: Uuid | null
  requestedByName: string | null
  requestedThrough: string | null
  grantId: Uuid | null
  approvedBy: NamedPerson[]
}

const findTransfer = selectRow('ledger.transfer', ledgerTransfers, ['id'])

/**
 * The balance at hour $5, plus later bookings up to $4. Bookings of the period ($2 to $3) are ordered by id, and clocks of processes
 * differ: a booking from before $5 with an id above $4 is in the balance at $5, so it is subtracted.
 */
const balanceAfter = statement('ledger.balance_after')`
  with ${countedSql}
   select (${balanceSql('$1::uuid', '$5::timestamptz')}
     + coalesce((select sum(case when t.created_at >= $5 and t.id <= $4 then 1 when t.created_at < $5 and t.id > $4 then -1 else 0 end
           * ${signedAmount})
         from ledger_transfers t where ${isBooking} and t.created_at >= $2::timestamptz and t.created_at < $3::timestamptz
           and (t.customer_account_id, t.id) > ($1, ${transferIds.lowerBound('$1', '$5::timestamptz')})
           and (t.customer_account_id, t.id) <= ($1, greatest($4::uuid, ${transferIds.upperBound('$1', '$5::timestamptz')}))), 0))::bigint as minor`

export const bookedAt = async (db: Db, id: Uuid): Promise<Date> => found(await findTransfer(db, { id })).createdAt

const balanceAfterEntry = async (db: Db, { ownerId, start, end }: StatementScope, after: Uuid): Promise<Minor> => {
  const at = await bookedAt(db, after)
  const hour = new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000)
  const row = only(await db.query<{ minor: Minor }>(balanceAfter, [ownerId, start, end, after, hour > start ? hour : start]))
  return row.minor
}

type EntriesPage = { after: Uuid | null; take: number; summary: Pick<StatementSummary, 'openingMinor' | 'through'> }

/** Entries oldest first, up to the last one that the summary includes. */
export const listStatementEntries = async (
  db: Db,
  scope: StatementScope,
  { after, take, summary: { openingMinor, through } }: EntriesPage,
): Promise<StatementEntry[]> => {
  const balance = after === null ? openingMinor : await balanceAfterEntry(db, scope, after)
  const { ownerId, start, end, workspaceId, detailsOf, payeesOf } = scope
  const key = { account_id: ownerId, starts: start, ends: end, workspace_id: workspaceId }
  return db.run(entries, { ...key, details_of: detailsOf, payees_of: payeesOf, after, through, take, balance })
}
