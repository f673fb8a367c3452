import { type Db, statement } from '../db/client.ts'
import { prepareText } from '../db/prepare.ts'
import { namesSql } from '../db/tables/columns.ts'
import { frequentEventTypes } from '../db/tables/events.ts'
import { lastId, type Uuid } from '../lib/ids.ts'
import { only } from '../lib/lists.ts'
import { parseWithoutTrace } from '../lib/packed-text.ts'
import { type Fields, withChanges } from './stored-data.ts'

/** Ordered by transaction first and id second, because commit order differs from id order. */
export type Position = { transaction: string; id: Uuid }
export type StoredEvent = Position & { type: string; accountId: Uuid; workspaceId: Uuid | null; data: unknown; createdAt: Date }

/** Events that a reader may get, by owner and type; `mayRead` decides for each. `isFiltered`: only these types were asked. */
export type Audience = { accountId: Uuid; workspaceIds: readonly Uuid[]; types: readonly string[]; isFiltered: boolean }

type Row = Omit<StoredEvent, 'data'> & { data: Fields | null; snapshot: Buffer | null }

/** Events of a workspace's separate balance account are shown as the owning account's. */
const columns = `id, transaction::text, type,
  case when account_id = w.balance_account_id then w.owning_account_id else account_id end as "accountId", workspace_id as "workspaceId", data,
  (select snapshot from payments where payments.id = events.payment_id) as snapshot,
  created_at as "createdAt"`
/** Looks up each workspace of a page once. A lookup for each event would double the number of blocks read. */
const withWorkspace = (id: string) =>
  `left join lateral (select balance_account_id, owning_account_id from workspaces where id = ${id} offset 0) as w on true`
const ownEvents = `events ${withWorkspace('events.workspace_id')}`
/** Only events that no slower transaction can still precede are read. */
const settled = 'transaction < (select events_settled_before())'
/**
 * Events that were settled remain settled, even if the edge falls back for a moment: a transaction in another database on the
 * server, if it ends while the edge is computed, looks like a running transaction of ours.
 */
const stillSettled = 'transaction < greatest((select events_settled_before()), key.settled)'

const toEvent = ({ snapshot, data, ...row }: Row): StoredEvent => {
  if (snapshot === null) return { ...row, data }
  const { due_decision: _, ...payment } = parseWithoutTrace(snapshot) as Fields
  return { ...row, data: withChanges(payment, data) }
}

/** Ids have a fixed width and are lowercase, so text order is id order. */
export const comparePositions = (a: Position, b: Position): number => {
  if (a.transaction !== b.transaction) return BigInt(a.transaction) < BigInt(b.transaction) ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

const edge = statement('events.edge')`select (events_settled_before()::text::numeric - 1)::text as transaction`

export const readEdge = async (db: Db): Promise<Position> => {
  const [row] = await db.query<{ transaction: string }>(edge, [])
  return { transaction: row?.transaction ?? '0', id: lastId }
}

const snapshot = statement('events.snapshot')`select pg_current_snapshot()::text as snapshot`

/** Whether an event was committed before now. A stream without a starting point skips such events. */
export const readPast = async (db: Db): Promise<(event: Position) => boolean> => {
  const [row] = await db.query<{ snapshot: string }>(snapshot, [])
  const [, end = '0', running = ''] = (row?.snapshot ?? '').split(':')
  const open = running.split(',')
  return (event) => BigInt(event.transaction) < BigInt(end) && !open.includes(event.transaction)
}

const next = statement('events.next')`
  select ${columns}, ${settled} as settled from ${ownEvents} where (transaction, id) > ($1::xid8, $2::uuid) order by events.transaction, events.id limit $3`

/** Reads the next events of all tenants. `isBlocked`: further events are blocked by a slower transaction. */
export const nextEvents = async (db: Db, after: Position, take: number) => {
  const rows = await db.query<Row & { settled: boolean }>(next, [after.transaction, after.id, take])
  const ready = rows.filter((row) => row.settled)
  return { events: ready.map((row) => toEvent(row)), isBlocked: ready.length < rows.length }
}

const byId = statement('events.place', 'record')`select ${columns} from ${ownEvents} where id = $1`

export const findEvent = async (db: Db, id: Uuid): Promise<StoredEvent | undefined> =>
  (await db.query<Row>(byId, [id])).map((row) => toEvent(row))[0]

/** Reads one index range per owner, each limited to a page before the merge, so that a long history costs nothing. */
const ranges = (beyond: string, order: 'asc' | 'desc') => `
  select * from (
    (select ${columns} from ${ownEvents}
     where account_id = key.account_id and workspace_id is null and ${beyond} and ${stillSettled} and type = any(key.types)
     order by events.transaction ${order}, events.id ${order} limit key.take)
    union all
    (select found.* from unnest(key.workspace_ids) as mine(workspace) ${withWorkspace('mine.workspace')} cross join lateral (
       select ${columns} from events
       where workspace_id = mine.workspace and ${beyond} and ${stillSettled} and type = any(key.types)
       order by events.transaction ${order}, events.id ${order} limit key.take) as found)
  ) as page order by transaction::xid8 ${order}, id ${order} limit key.take`

/** Uses the index of infrequent types. */
const rareRanges = (beyond: string, order: 'asc' | 'desc') => `
  select found.* from unnest(array_append(key.workspace_ids, key.account_id)) as mine(owner) ${withWorkspace('mine.owner')}
  cross join unnest(key.types) as asked(type) cross join lateral (
    select ${columns} from events
    where coalesce(workspace_id, account_id) = mine.owner and type = asked.type and type not in ${namesSql(frequentEventTypes)} and ${beyond} and ${stillSettled}
    order by events.transaction ${order}, events.id ${order} limit key.take) as found
  order by found.transaction::xid8 ${order}, found.id ${order} limit key.take`

const lastTransaction = '18446744073709551615'

const afterPosition = '(events.transaction, events.id) > (key.transaction, key.id)'

/**
 * The transaction of the nearest event, in any tenant, before or after a time. Searches by the times in ids, with a margin of 20
 * minutes, which is longer than any transaction or clock difference. Null if the clock was set.
 */
const transactionBeyond = (isBeyond: string, ids: string, order: 'asc' | 'desc') => `
  (select case when near.created_at ${isBeyond} then near.transaction end from events near where near.id ${ids} order by near.id ${order} limit 1)`

// The position is one condition even on the first page, because otherwise the index scan would not start there. Times are
// converted to transactions, so that events outside the range are not read.
const beforePosition = `(events.transaction, events.id) < (coalesce(key.transaction, '${lastTransaction}'), coalesce(key.id, '${lastId}'))
       and events.created_at > key.since and events.created_at < coalesce(key.until, 'infinity')
       and events.transaction >= coalesce(${transactionBeyond('<= key.since', `< first_id_at(key.since - interval '20 minutes')`, 'desc')}, '0')
       and events.transaction <= coalesce(${transactionBeyond('>= key.until', `>= first_id_at(key.until + interval '20 minutes')`, 'asc')}, '${lastTransaction}')`

const range = statement('events.range', 'page')`
  select coalesce(${transactionBeyond('<= $1', `< first_id_at($1::timestamptz - interval '20 minutes')`, 'desc')}, '0')::text as first,
     coalesce(${transactionBeyond('>= $2', `>= first_id_at($2::timestamptz + interval '20 minutes')`, 'asc')}, '${lastTransaction}')::text as last`

/** The transactions between which all events after `since` and before `until` lie, in any tenant. */
export const transactionRange = async (db: Db, since: Date, until: Date | undefined): Promise<{ first: string; last: string }> =>
  only(await db.query<{ first: string; last: string }>(range, [since, until ?? null]))

const pageKey = {
  transaction: 'xid8',
  id: 'uuid',
  account_id: 'uuid',
  workspace_ids: 'uuid[]',
  types: 'text[]',
  take: 'int',
  settled: 'xid8',
  since: 'timestamptz',
  until: 'timestamptz',
} as const
const declarePage = (name: string, text: string, connection: 'page' | 'pool') =>
  prepareText<Row>()(name, pageKey, text, connection, connection === 'pool' ? { maxSets: 1 } : {})

/** A filtered search of a long history takes longer, so it shares no connection with lists or other searches. */
const declarePages = (name: string, beyond: string, order: 'asc' | 'desc') => ({
  all: declarePage(`events.${name}`, ranges(beyond, order), 'page'),
  filtered: declarePage(`events.${name}_of_types`, ranges(beyond, order), 'pool'),
  rare: declarePage(`events.${name}_of_rare_types`, rareRanges(beyond, order), 'page'),
})
const later = declarePages('later', afterPosition, 'asc')
const earlier = declarePages('earlier', beforePosition, 'desc')

const isFrequent = (type: string): boolean => frequentEventTypes.some((frequent) => frequent === type)

/** `delivered`: a position up to which all events are settled. */
type EventQuery = {
  from: Position | null
  audience: Audience
  take: number
  delivered?: Position
  since?: Date
  until?: Date | undefined
}

const readPage = async (db: Db, query: typeof later, { from, audience, take, delivered, since, until }: EventQuery) => {
  const { accountId, workspaceIds, types, isFiltered } = audience
  const form = !isFiltered ? 'all' : types.some(isFrequent) ? 'filtered' : 'rare'
  const rows = await db.run(query[form], {
    transaction: from?.transaction ?? null,
    id: from?.id ?? null,
    account_id: accountId,
    workspace_ids: workspaceIds,
    types,
    take,
    settled: delivered ? BigInt(delivered.transaction) + 1n : null,
    since: since ?? null,
    until: until ?? null,
  })
  return rows.map((row) => toEvent(row))
}

export const eventsAfter = (db: Db, asked: EventQuery & { from: Position }) => readPage(db, later, asked)

/** Omits events older than `since`, even if their partition still exists. */
export const eventsBefore = (db: Db, asked: EventQuery & { since: Date }) => readPage(db, earlier, asked)

const oldest = statement('events.oldest_undelivered')`
  select created_at from events where (transaction, id) > ($1::xid8, $2::uuid) order by events.transaction, events.id limit 1`

/** Creation time of the oldest event that this process has not delivered yet. Undefined if there is none. */
export const oldestUndelivered = async (db: Db, position: Position): Promise<Date | undefined> =>
  (await db.query<{ created_at: Date }>(oldest, [position.transaction, position.id]))[0]?.created_at
