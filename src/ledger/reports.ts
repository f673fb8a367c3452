import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Db } from '../db/client.ts'
import { statement } from '../db/client.ts'
import { type Places, prepare, type RowOf } from '../db/prepare.ts'
import { namesSql } from '../db/tables/columns.ts'
import { historyTypeSql, indexedTypeSql, ledgerAccounts, ledgerTransfers, rareTransferKinds } from '../db/tables/ledger.ts'
import { lastId, type Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import type { RailName } from '../lib/rail-names.ts'
import {
  amongAll,
  bookedSql,
  bookingColumns,
  dayNumber,
  idAhead,
  idBehind,
  isBooking,
  isBookingType,
  periodSql,
  storedSql,
} from './hours.ts'

export { transferKinds } from '../db/tables/ledger.ts'

export const historyTypes = [
  'topup',
  'payment_hold',
  'payment',
  'payment_release',
  'payment_return',
  'fee',
  'separation',
  'adjustment',
] as const
type HistoryType = (typeof historyTypes)[number]

const parameters = {
  ownerId: 'uuid',
  before: 'uuid|null',
  take: 'rows',
  types: 'text[]?',
  createdAfter: 'timestamptz|null',
  createdBefore: 'timestamptz|null',
  workspaceId: 'uuid?',
} as const
type At = Places<typeof parameters>

const asked = (
  at: At,
): SQL => sql`(select ${at.ownerId} as owner_id, ${at.before} as before, ${at.types ?? sql`null::text[]`} as types,
  ${at.createdAfter} as since, ${at.createdBefore} as until) asked`

const account = '(select id from ledger_accounts where owner_id = asked.owner_id)'

const historyColumns = `t.customer_account_id as owner, t.id, ${historyTypeSql('t.')} as type,
  case t.kind when 'pending' then -t.amount_minor when 'post' then 0 when 'void' then t.amount_minor
    else case when t.credit_account_id = t.customer_account_id then t.amount_minor else -t.amount_minor end end as amount_minor,
  case t.kind when 'pending' then t.amount_minor when 'direct' then 0 else -t.amount_minor end as held_change_minor,
  t.available_after_minor, case when d.id is not null then 'topup' when t.reference_type = 'fee' then 'payment' else t.reference_type end as reference_type,
  coalesce(d.topup_id, t.reference_id) as reference_id, t.created_at`

/**
 * A single row condition lets the index scan start at the page. The time bounds include the account, because with ids alone the
 * plan may read the rows of all accounts.
 */
const ofAccount = `select ${historyColumns} from ledger_transfers t left join deposits d on t.reference_type = 'deposit' and d.id = t.reference_id
  where t.customer_account_id = any(array[${account}]) and (t.customer_account_id, t.id) < (${account}, coalesce(asked.before, '${lastId}'))
    and (asked.since is null or t.created_at > asked.since) and (asked.until is null or t.created_at < asked.until)
    and (t.customer_account_id, t.id) > (${account}, ${idBehind(account, 'asked.since')}) and (t.customer_account_id, t.id) < (${account}, ${idAhead(account, 'asked.until')})`

const ofAllTypes = (at: At): SQL => sql`(select e.* from ${asked(at)}, lateral (${sql.raw(ofAccount)}) e
  where (asked.types is null or e.type = any(asked.types)) ${
    at.workspaceId
      ? sql`and e.reference_type = 'payment' and exists (select from payments p where p.id = e.reference_id and p.workspace_id = ${at.workspaceId})`
      : sql``
  }) as h`

/** The newest entries of each type, from an index that excludes the common types of payments. */
const ofEachType = (at: At): SQL => sql`(select e.* from ${asked(at)}, unnest(asked.types) as each(type), lateral (
  ${sql.raw(ofAccount)} and ${sql.raw(historyTypeSql('t.'))} = each.type and ${sql.raw(indexedTypeSql('t.'))} = case each.type when 'payment_return' then 'payment_release' else each.type end and t.kind in ${sql.raw(namesSql(rareTransferKinds))}
  order by t.customer_account_id desc, t.id desc limit ${at.take}) e) as h`

const historyBy = (name: string, entries: (at: At) => SQL, connection: 'page' | 'pool') =>
  prepare(name, parameters, connection, (orm, param) =>
    orm
      .select({
        id: sql<Uuid>`h.id`,
        type: sql<HistoryType>`h.type`,
        /** The amounts add up to the available balance, which posting a hold does not change. */
        amountMinor: sql<Minor>`h.amount_minor::bigint`,
        heldChangeMinor: sql<Minor>`h.held_change_minor::bigint`,
        availableAfterMinor: sql<Minor>`h.available_after_minor`,
        referenceType: sql<string>`h.reference_type`,
        referenceId: sql<Uuid>`h.reference_id`,
        createdAt: sql<Date>`h.created_at`,
      })
      .from(entries(param))
      .orderBy(sql`h.owner desc, h.id desc`)
      .limit(param.take),
  )

const history = {
  all: historyBy('ledger.history', ofAllTypes, 'page'),
  rare: historyBy('ledger.history_rare', ofEachType, 'page'),
  // Few of very many rows may match a type, so the query does not use the connection that all lists share.
  ofTypes: historyBy('ledger.history_of_types', ofAllTypes, 'pool'),
}
export type HistoryEntry = RowOf<typeof history.all>

const rareTypes: readonly HistoryType[] = ['topup', 'payment_release', 'payment_return', 'adjustment']

export type HistoryFilter = {
  types?: readonly HistoryType[] | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  /** Restricts entries to the payments of this workspace. */
  workspaceId?: Uuid | undefined
}

export const listHistory = (
  db: Db,
  ownerId: Uuid,
  page: { before: Uuid | null; take: number },
  filter: HistoryFilter = {},
): Promise<HistoryEntry[]> => {
  const { types = null, createdAfter = null, createdBefore = null, workspaceId } = filter
  const isRare = types?.every((type) => rareTypes.includes(type))
  const query = workspaceId ? history.ofTypes : isRare === undefined ? history.all : isRare ? history.rare : history.ofTypes
  return db.run(query, { ownerId, ...page, workspaceId, createdAfter, createdBefore, types: types && [...new Set(types)] })
}

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
     select ${dayNumber('h.hour', '$4')} as day, h.came_in_minor as came_in, h.went_out_minor as went_out from ${storedSql('$1::uuid')}
     where ${isBookingType('h')} and ($5::uuid is null or h.workspace_id = $5::uuid)
     union all
     select ${dayNumber('l.at', '$4')}, greatest(l.amount_minor, 0), greatest(-l.amount_minor, 0)
     from edges e cross join lateral (select ${bookingColumns} from ${bookedSql('$1::uuid', 'e.begins', 'e.ends')}) as l
     where $5::uuid is null or l.reference_type in ('payment', 'fee') and exists (select from payments p where p.id = l.reference_id and p.workspace_id = $5::uuid)) as m
     group by day)
   select coalesce(m.came_in, 0)::bigint as "inMinor", coalesce(m.went_out, 0)::bigint as "outMinor",
     case when $5::uuid is null then coalesce((
       select t.available_after_minor from ledger_transfers t
       where t.customer_account_id = any(array[$1::uuid]) and t.created_at < d.ends and t.id < ${idAhead('$1::uuid', 'd.ends')}
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
   where t.reference_type = 'fee' and ${isBooking} and ${amongAll('ledger_transfers', '$1::timestamptz', '$2::timestamptz')}
   group by 1, 2 order by 1, 2`

type FeesOfDay = { date: string; rail: RailName; count: number; feesMinor: Minor }

/** Booked fees by day in Nairobi time, as providers count days. */
export const readFees = (db: Db, begins: Date, ends: Date): Promise<FeesOfDay[]> => db.query(feesByDay, [begins, ends])
