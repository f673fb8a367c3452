import pg from 'pg'
import type { Logger } from 'pino'
import { type Db, statement } from '../db/client.ts'
import { describeError } from '../db/errors.ts'
import type { Uuid } from '../lib/ids.ts'

/** Where a reader stands: commit order is not id order, so an event's place is its transaction first and its id second. */
export type Position = { transaction: string; id: Uuid }
export type StoredEvent = Position & { type: string; accountId: Uuid; workspaceId: Uuid | null; data: unknown; createdAt: Date }

type Row = {
  transaction: string
  id: Uuid
  type: string
  account_id: Uuid
  workspace_id: Uuid | null
  data: unknown
  created_at: Date
}

const columns = 'transaction::text, id, type, account_id, workspace_id, data, created_at'
/** Below the oldest transaction still running nothing can appear any more: so nothing that commits late is ever skipped. */
const settled = 'transaction < pg_snapshot_xmin(pg_current_snapshot())'

const nextEvents = statement(
  'events.next',
  `select ${columns} from events where (transaction, id) > ($1::xid8, $2::uuid) and ${settled} order by events.transaction, events.id limit $3`,
)
const unsettledCount = statement(
  'events.unsettled',
  `select exists (select from events where (transaction, id) > ($1::xid8, $2::uuid)) as waiting`,
)
const edge = 'select (pg_snapshot_xmin(pg_current_snapshot())::text::numeric - 1)::text as transaction'
const place = statement('events.place', `select ${columns} from events where id = $1`)
const missed = statement(
  'events.missed',
  `select ${columns} from events
   where (transaction, id) > ($1::xid8, $2::uuid) and ${settled} and (account_id = $3 or workspace_id = any($4::uuid[]))
   order by events.transaction, events.id limit $5`,
)
const newest = statement(
  'events.newest',
  `select ${columns} from events
   where ($1::xid8 is null or (transaction, id) < ($1::xid8, $2::uuid)) and ${settled} and (account_id = $3 or workspace_id = any($4::uuid[]))
   order by events.transaction desc, events.id desc limit $5`,
)

export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const toEvent = (row: Row): StoredEvent => ({
  transaction: row.transaction,
  id: row.id,
  type: row.type,
  accountId: row.account_id,
  workspaceId: row.workspace_id,
  data: row.data,
  createdAt: row.created_at,
})

/** Negative when `a` is before `b`. Ids are fixed-width lower-case text, so text order is their order. */
export const comparePositions = (a: Position, b: Position): number => {
  const difference = BigInt(a.transaction) - BigInt(b.transaction)
  if (difference !== 0n) return difference < 0n ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

/** Whose events a reader may be given at all; what it may read of them is decided per type. */
export type Audience = { accountId: Uuid; workspaceIds: readonly Uuid[] }

export const findEvent = async (db: Db, id: Uuid): Promise<StoredEvent | undefined> =>
  (await db.query<Row>(place, [id])).map(toEvent)[0]

export const eventsAfter = async (db: Db, after: Position, audience: Audience, take: number): Promise<StoredEvent[]> =>
  (await db.query<Row>(missed, [after.transaction, after.id, audience.accountId, audience.workspaceIds, take])).map(toEvent)

export const eventsBefore = async (db: Db, before: Position | null, audience: Audience, take: number): Promise<StoredEvent[]> =>
  (
    await db.query<Row>(newest, [
      before?.transaction ?? null,
      before?.id ?? null,
      audience.accountId,
      audience.workspaceIds,
      take,
    ])
  ).map(toEvent)

export type Feed = {
  start: () => Promise<void>
  /** Tells every process, this one first, that events were committed. Coalesced; never part of a transaction. */
  wake: () => void
  position: () => Position
  subscribe: (listener: (events: readonly StoredEvent[]) => void) => () => void
  /** Reads on until nothing that is committed now is missing: for tests and for an orderly end. */
  settle: () => Promise<void>
  stop: () => Promise<void>
}

const channel = 'events'
const batch = 500
const slowPollMs = 1_000
/** A slower transaction holds newer events back: look again soon. */
const unsettledPollMs = 25

export const createFeed = (options: { db: Db; databaseUrl: string; logger: Logger }): Feed => {
  const { db, logger } = options
  const listeners = new Set<(events: readonly StoredEvent[]) => void>()
  let position: Position = { transaction: '0', id: lastId }
  let connection: pg.Client | undefined
  let reading: Promise<void> | undefined
  let again = false
  let notifying = false
  let notifyAgain = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  const schedule = (ms: number) => {
    if (stopped) return
    clearTimeout(timer)
    timer = setTimeout(() => void read(), ms).unref()
  }

  const readAll = async (): Promise<void> => {
    for (;;) {
      again = false
      const rows = await db.query<Row>(nextEvents, [position.transaction, position.id, batch])
      const events = rows.map(toEvent)
      const last = events.at(-1)
      if (last) {
        position = { transaction: last.transaction, id: last.id }
        for (const listener of listeners) listener(events)
      }
      if (rows.length < batch && !again) break
    }
    const [state] = await db.query<{ waiting: boolean }>(unsettledCount, [position.transaction, position.id])
    schedule(state?.waiting ? unsettledPollMs : slowPollMs)
  }

  const read = (): Promise<void> => {
    again = true
    reading ??= readAll()
      .catch((error: unknown) => {
        if (!stopped) logger.warn(describeError(error), 'events could not be read')
        schedule(slowPollMs)
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  const listen = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: options.databaseUrl, application_name: 'payments-service-events' })
    client.on('error', () => undefined)
    client.on('end', () => {
      connection = undefined
      if (!stopped) setTimeout(() => void listen().catch(() => undefined), slowPollMs).unref()
    })
    client.on('notification', () => void read())
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      connection = client
    } catch (error) {
      logger.warn(describeError(error), 'the event listener is not connected; polling goes on')
      await client.end().catch(() => undefined)
    }
  }

  const notify = async (): Promise<void> => {
    if (notifying) {
      notifyAgain = true
      return
    }
    notifying = true
    do {
      notifyAgain = false
      await connection?.query(`notify ${channel}`).catch(() => undefined)
    } while (notifyAgain && !stopped)
    notifying = false
  }

  return {
    start: async () => {
      const [row] = await db.query<{ transaction: string }>(edge)
      position = { transaction: row?.transaction ?? '0', id: lastId }
      await listen()
      schedule(slowPollMs)
    },
    wake: () => {
      if (stopped) return
      void notify()
    },
    position: () => position,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    settle: async () => {
      for (;;) {
        await read()
        const [state] = await db.query<{ waiting: boolean }>(unsettledCount, [position.transaction, position.id])
        if (!state?.waiting) return
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await reading
      await connection?.end().catch(() => undefined)
    },
  }
}
