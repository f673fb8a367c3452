import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/client.ts'
import { type Placeholders, prepare, type RowOf } from '../db/prepare.ts'
import { namesSql } from '../db/tables/columns.ts'
import { historyTypeSql, indexedTypeSql, rareTransferKinds } from '../db/tables/ledger.ts'
import { lastId, type Uuid } from '../lib/ids.ts'
import type { Minor } from '../lib/money.ts'
import { signedAmount } from './hours.ts'
import { transferIds } from './id-bounds.ts'

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
type At = Placeholders<typeof parameters>

const wantedSql = (
  at: At,
): SQL => sql`(select ${at.ownerId} as owner_id, ${at.before} as before, ${at.types ?? sql`null::text[]`} as types,
  ${at.createdAfter} as since, ${at.createdBefore} as until) wanted`

const account = '(select id from ledger_accounts where owner_id = wanted.owner_id)'

const historyColumns = `t.customer_account_id as owner, t.id, ${historyTypeSql('t.')} as type,
  case t.kind when 'pending' then -t.amount_minor when 'post' then 0 when 'void' then t.amount_minor
    else ${signedAmount} end as amount_minor,
  case t.kind when 'pending' then t.amount_minor when 'direct' then 0 else -t.amount_minor end as held_change_minor,
  t.available_after_minor, case when d.id is not null then 'topup' when t.reference_type = 'fee' then 'payment' else t.reference_type end as reference_type,
  coalesce(d.topup_id, t.reference_id) as reference_id, t.created_at`

/**
 * A single row condition lets the index scan start at the page. The time bounds include the account, because with ids alone the
 * plan may read the rows of all accounts.
 */
const entriesSql = `select ${historyColumns} from ledger_transfers t left join deposits d on t.reference_type = 'deposit' and d.id = t.reference_id
  where t.customer_account_id = any(array[${account}]) and (t.customer_account_id, t.id) < (${account}, coalesce(wanted.before, '${lastId}'))
    and (wanted.since is null or t.created_at > wanted.since) and (wanted.until is null or t.created_at < wanted.until)
    and (t.customer_account_id, t.id) > (${account}, ${transferIds.lowerBound(account, 'wanted.since')}) and (t.customer_account_id, t.id) < (${account}, ${transferIds.upperBound(account, 'wanted.until')})`

const entriesOfAnyType = (at: At): SQL => sql`(select e.* from ${wantedSql(at)}, lateral (${sql.raw(entriesSql)}) e
  where (wanted.types is null or e.type = any(wanted.types)) ${
    at.workspaceId
      ? sql`and e.reference_type = 'payment' and exists (select from payments p where p.id = e.reference_id and p.workspace_id = ${at.workspaceId})`
      : sql``
  }) as h`

/** The newest entries of each type, from an index that excludes the common types of payments. */
const newestOfEachType = (at: At): SQL => sql`(select e.* from ${wantedSql(at)}, unnest(wanted.types) as each(type), lateral (
  ${sql.raw(entriesSql)} and ${sql.raw(historyTypeSql('t.'))} = each.type and ${sql.raw(indexedTypeSql('t.'))} = case each.type when 'payment_return' then 'payment_release' else each.type end and t.kind in ${sql.raw(namesSql(rareTransferKinds))}
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
  all: historyBy('ledger.history', entriesOfAnyType, 'page'),
  rare: historyBy('ledger.history_rare', newestOfEachType, 'page'),
  // Few of very many rows may match a type, so the query does not use the connection that all lists share.
  ofTypes: historyBy('ledger.history_of_types', entriesOfAnyType, 'pool'),
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
