import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'

export const statementTypes = ['topup', 'payment', 'payment_return', 'adjustment'] as const
export type StatementType = (typeof statementTypes)[number]

/** An account's bookings from `start` until before `end`; with a workspace, those of its payments alone. */
export type StatementOf = {
  ownerId: Uuid
  workspaceId: Uuid | null
  start: Date
  end: Date
  /** Whose payees may be named: of one workspace, of all, or of none. */
  payeesOf: Uuid | 'all' | 'none'
}

/**
 * Bookings only: money under a hold has not left. Balances are counted back from the account's present totals, over what was booked since
 * `start`, so that the opening balance of one statement is the closing balance of the one before whatever their lengths. An account's
 * bookings stand in the order of their ids; `edge` ends the walk back through them, an hour early as processes' clocks differ.
 */
const booked = `
  account as (select id, posted_credits_minor - posted_debits_minor as now_minor from ledger_accounts where owner_id = $1),
  edge as (
    select coalesce((select t.id from ledger_transfers t where t.customer_account_id = (select id from account)
      and t.created_at < $2::timestamptz - interval '1 hour' order by t.id desc limit 1), '00000000-0000-0000-0000-000000000000') as id),
  since as materialized (
    select t.id, t.created_at as at, t.reference_type, t.reference_id,
      case when t.credit_account_id = a.id then t.amount_minor else -t.amount_minor end as amount_minor
    from ledger_transfers t join account a on t.customer_account_id = a.id
    where t.id > (select id from edge) and t.kind in ('direct', 'post') and t.created_at >= $2),
  opening as (select coalesce((select now_minor from account), 0) - coalesce((select sum(amount_minor) from since), 0) as minor),
  period as (
    select s.*, (select minor from opening) + sum(s.amount_minor) over (order by s.id) as balance_after_minor,
      case s.reference_type when 'payment' then case when s.amount_minor < 0 then 'payment' else 'payment_return' end
        when 'topup' then 'topup' when 'deposit' then 'topup' else 'adjustment' end as type,
      p.id as payment_id, p.workspace_id, p.beneficiary_id
    from since s left join payments p on s.reference_type = 'payment' and p.id = s.reference_id
    where s.at < $3 and ($4::uuid is null or p.workspace_id = $4))`

const named = `left join beneficiaries b on b.id = m.beneficiary_id and ($5 = 'all' or m.workspace_id::text = $5)`

/** A year of a busy account may have more payees than anybody reads. */
const mostPayees = 1_000

const summary = statement(
  'ledger.statement_summary',
  `with ${booked}
   select (select minor from opening)::text as opening, (select max(id::text) from period) as through,
     coalesce((select sum(amount_minor) from period where amount_minor > 0), 0)::text as came_in,
     coalesce((select -sum(amount_minor) from period where amount_minor < 0), 0)::text as went_out,
     coalesce((select json_agg(row_to_json(t) order by t.type) from (
       select type, count(*)::int as entries, coalesce(sum(amount_minor) filter (where amount_minor > 0), 0)::text as came_in,
         coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0)::text as went_out from period group by type) t), '[]') as by_type,
     coalesce((select json_agg(row_to_json(t) order by t.went_out::numeric desc, t.id) from (
       select b.id, b.display_name, count(*)::int as entries, coalesce(sum(m.amount_minor) filter (where m.amount_minor > 0), 0)::text as came_in,
         coalesce(-sum(m.amount_minor) filter (where m.amount_minor < 0), 0)::text as went_out
       from period m join beneficiaries b on b.id = m.beneficiary_id and ($5 = 'all' or m.workspace_id::text = $5)
       group by b.id order by 5 desc, 1 limit ${mostPayees}) t), '[]') as by_payee`,
)

const entries = statement(
  'ledger.statement_entries',
  `with ${booked}
   select m.id, m.at, m.type, m.amount_minor::text as amount_minor, m.balance_after_minor::text as balance_after_minor, m.payment_id,
     u.id as topup_id, b.id as beneficiary_id, b.display_name as payee, p.account_reference as reference, p.narrative,
     coalesce(p.metadata, u.metadata, '{}') as metadata, coalesce(d.receipt, p.provider_receipt, u.provider_receipt) as provider_receipt,
     coalesce(p.initiator_account_id, u.initiator_account_id) as requested_by,
     coalesce((select array_agg(distinct x.account_id) from approval_decisions x where x.approval_id = p.approval_id and x.decision = 'approve'
       and not exists (select from approval_voids v where v.decision_id = x.id)), '{}') as approved_by
   from (select * from period where ($6::uuid is null or id > $6) and ($7::uuid is null or id <= $7) order by id limit $8) m
     left join payments p on p.id = m.payment_id
     left join deposits d on m.reference_type = 'deposit' and d.id = m.reference_id
     left join topups u on u.id = case m.reference_type when 'topup' then m.reference_id when 'deposit' then d.topup_id end
     ${named}
   order by m.id`,
)

export type StatementTotal = { entries: number; inMinor: Minor; outMinor: Minor }
export type StatementSummary = {
  openingMinor: Minor
  closingMinor: Minor
  inMinor: Minor
  outMinor: Minor
  byType: (StatementTotal & { type: StatementType })[]
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
  by_type: (TotalRow & { type: StatementType })[]
  by_payee: (TotalRow & { id: Uuid; display_name: string })[]
}

const totalOf = ({ entries: count, came_in, went_out }: TotalRow): StatementTotal => ({
  entries: count,
  inMinor: BigInt(came_in),
  outMinor: BigInt(went_out),
})

const valuesOf = ({ ownerId, start, end, workspaceId, payeesOf }: StatementOf) => [ownerId, start, end, workspaceId, payeesOf]

/** The balances and sums of a statement. For a workspace the balances are those of the account, and mean nothing. */
export const readStatementSummary = async (db: Db, of: StatementOf): Promise<StatementSummary> => {
  const [row] = await db.query<SummaryRow>(summary, valuesOf(of))
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
  type: StatementType
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
  type: StatementType
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

/** Its bookings after `after`, oldest first, up to the one that its summary counted last. */
export const listStatementEntries = async (
  db: Db,
  of: StatementOf,
  page: { after: Uuid | null; through: Uuid | null; take: number },
): Promise<StatementEntry[]> => {
  const rows = await db.query<EntryRow>(entries, [...valuesOf(of), page.after, page.through, page.take])
  return rows.map((row) => ({
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
  }))
}
