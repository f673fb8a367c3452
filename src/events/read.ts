import { type Db, statement } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import { unpack } from '../lib/packed-text.ts'
import { type Fields, withChanges } from './payment-changes.ts'

/** A reader's position: commit order is not id order, so an event's position is its transaction first and its id second. */
export type Position = { transaction: string; id: Uuid }
export type StoredEvent = Position & { type: string; accountId: Uuid; workspaceId: Uuid | null; data: unknown; createdAt: Date }

/**
 * The events that a reader may get, by owner and type; `mayRead` then decides for each event. `asked`: the reader asked for these types alone, of
 * which there may be none among very many events.
 */
export type Audience = { accountId: Uuid; workspaceIds: readonly Uuid[]; types: readonly string[]; asked: boolean }

/** After every id: the position after all events of a transaction. */
export const lastId: Uuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Row = {
  transaction: string
  id: Uuid
  type: string
  account_id: Uuid
  workspace_id: Uuid | null
  data: Fields | null
  snapshot: Buffer | null
  created_at: Date
}

const columns = `transaction::text, id, type, account_id, workspace_id, data,
  (select snapshot from payments where payments.id = events.payment_id) as snapshot, created_at`
/** No event that commits late is skipped: reading stops at a position where a slower transaction may still write an event. */
const settled = 'transaction < (select events_settled_before())'

const toEvent = (row: Row): StoredEvent => ({
  transaction: row.transaction,
  id: row.id,
  type: row.type,
  accountId: row.account_id,
  workspaceId: row.workspace_id,
  data: row.snapshot === null ? row.data : withChanges(JSON.parse(unpack(row.snapshot)) as Fields, row.data),
  createdAt: row.created_at,
})

/** Negative when `a` is before `b`. Ids are fixed-width lower-case text, so text order is their order. */
export const comparePositions = (a: Position, b: Position): number => {
  if (a.transaction !== b.transaction) return BigInt(a.transaction) < BigInt(b.transaction) ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

const edge = statement('events.edge', 'select (events_settled_before()::text::numeric - 1)::text as transaction')

/** The position after everything that is settled now. */
export const readEdge = async (db: Db): Promise<Position> => {
  const [row] = await db.query<{ transaction: string }>(edge, [])
  return { transaction: row?.transaction ?? '0', id: lastId }
}

const snapshot = statement('events.snapshot', 'select pg_current_snapshot()::text as snapshot')

/**
 * Returns a function that tells, for any event, whether it was committed before now: a stream without a starting point begins with later
 * events.
 */
export const readPast = async (db: Db): Promise<(event: Position) => boolean> => {
  const [row] = await db.query<{ snapshot: string }>(snapshot, [])
  const [, end = '0', running = ''] = (row?.snapshot ?? '').split(':')
  const open = new Set(running.split(','))
  return (event) => BigInt(event.transaction) < BigInt(end) && !open.has(event.transaction)
}

const next = statement(
  'events.next',
  `select ${columns}, ${settled} as settled from events where (transaction, id) > ($1::xid8, $2::uuid) order by events.transaction, events.id limit $3`,
)

/** The next events of all tenants. `waiting`: a slower transaction holds more of them back. */
export const nextEvents = async (db: Db, after: Position, take: number): Promise<{ events: StoredEvent[]; waiting: boolean }> => {
  const rows = await db.query<Row & { settled: boolean }>(next, [after.transaction, after.id, take])
  const ready = rows.filter((row) => row.settled)
  return { events: ready.map(toEvent), waiting: ready.length < rows.length }
}

const place = statement('events.place', `select ${columns} from events where id = $1`, 'record')

export const findEvent = async (db: Db, id: Uuid): Promise<StoredEvent | undefined> =>
  (await db.query<Row>(place, [id])).map(toEvent)[0]

/** One index range for the account and one for each workspace, each cut to a page before they are merged: a long history costs nothing. */
const ranges = (beyond: string, order: string) => `
  select * from (
    (select ${columns}, events.transaction as tx from events
     where account_id = $3 and workspace_id is null and ${beyond} and ${settled} and type = any($5::text[])
     order by events.transaction ${order}, events.id ${order} limit $6)
    union all
    (select found.* from unnest($4::uuid[]) as mine(workspace) cross join lateral (
       select ${columns}, events.transaction as tx from events
       where workspace_id = mine.workspace and ${beyond} and ${settled} and type = any($5::text[])
       order by events.transaction ${order}, events.id ${order} limit $6) as found)
  ) as page order by tx ${order}, id ${order} limit $6`

const laterText = ranges('(events.transaction, events.id) > ($1::xid8, $2::uuid)', 'asc')
const earlierText = ranges(
  // The place is one condition, and no alternative for the first page: only so is the index entered there.
  `(events.transaction, events.id) < (coalesce($1::xid8, '18446744073709551615'), coalesce($2::uuid, '${lastId}'))
       and events.created_at > $7 and events.created_at < coalesce($8::timestamptz, 'infinity')`,
  'desc',
)

/** To look for types that are rare takes longer: not on the connection that all lists share. */
const later = {
  all: statement('events.later', laterText, 'page'),
  asked: statement('events.later_of_types', laterText, 'pool'),
}
const earlier = {
  all: statement('events.earlier', earlierText, 'page'),
  asked: statement('events.earlier_of_types', earlierText, 'pool'),
}

type Asked = { from: Position | null; audience: Audience; take: number }

const page = async (
  db: Db,
  query: typeof later,
  { from, audience: { accountId, workspaceIds, types, asked }, take }: Asked,
  more: readonly (Date | null)[] = [],
): Promise<StoredEvent[]> => {
  const values = [from?.transaction ?? null, from?.id ?? null, accountId, workspaceIds, types, take, ...more]
  return (await db.query<Row>(asked ? query.asked : query.all, values)).map(toEvent)
}

/** Oldest first. */
export const eventsAfter = (db: Db, after: Position, audience: Audience, take: number): Promise<StoredEvent[]> =>
  page(db, later, { from: after, audience, take })

/** Newest first; from the newest when there is no position to start from. None that is older than `since`, though its period may still be there, and none from `until` on. */
export const eventsBefore = (
  db: Db,
  { before, since, until }: { before: Position | null; since: Date; until: Date | undefined },
  audience: Audience,
  take: number,
): Promise<StoredEvent[]> => page(db, earlier, { from: before, audience, take }, [since, until ?? null])

const forgetAll = 'delete from events'
const isAhead = 'select exists (select from events where transaction >= pg_snapshot_xmax(pg_current_snapshot())) as ahead'

/**
 * A dump restored into another cluster contains transaction ids that this cluster has not reached: its events would come again, out of
 * order, once it does. They are a copy of what REST shows, so they are deleted, and every reader gets `stream.reset`.
 */
export const forgetForeignEvents = async (db: Db): Promise<boolean> => {
  const [row] = await db.query<{ ahead: boolean }>(isAhead)
  if (row?.ahead) await db.query(forgetAll)
  return row?.ahead ?? false
}
