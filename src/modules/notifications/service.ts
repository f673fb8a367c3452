import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { and, sql } from 'drizzle-orm'
import { effectivePermissions, type Permission } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { prepare } from '../../db/prepare.ts'
import { selectRows } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { members } from '../../db/tables/workspaces.ts'
import type { FanOut } from '../../events/fan-out.ts'
import {
  comparePositions,
  eventsAfter,
  eventsBefore,
  findEvent,
  type Position,
  readPast,
  type StoredEvent,
  transactionRange,
} from '../../events/read.ts'
import type { StreamSlots } from '../../events/stream-slots.ts'
import { filterOf, type TypePattern } from '../../events/types.ts'
import { audienceOf, mayRead, type Reader, readerOf } from '../../events/visibility.ts'
import type { PageQuery, PageRequest } from '../../http/pagination.ts'
import type { SseConnection } from '../../http/sse.ts'
import { daysAfter } from '../../lib/clock.ts'
import { invalidAt, invalidFields, Refusal } from '../../lib/errors.ts'
import { firstId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { frameOf, resetFrame } from './present.ts'
import type { NotificationsQuery } from './schema.ts'

const memberships = selectRows('notifications.memberships', members, ['accountId'])
/** Searches by the root, because an index on all ancestors would need bitmap scans, which the connections disable. */
const descendants = prepare('notifications.descendants', { rootId: 'uuid', grantId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: grants.id })
    .from(grants)
    .where(and(sql`${grants.ancestorIds}[1] = ${param.rootId}`, sql`${grants.ancestorIds} @> array[${param.grantId}]`)),
)

const findReader = async (db: Db, principal: Principal): Promise<Reader> => {
  const { accountId, grant } = principal
  const [rows, below] = await Promise.all([
    memberships(db, { accountId }),
    grant ? db.run(descendants, { rootId: grant.lineage[0] ?? grant.id, grantId: grant.id }) : [],
  ])
  const permissions = new Map<Uuid, ReadonlySet<Permission>>(
    rows.filter(({ status }) => status === 'active').map((row) => [row.workspaceId, effectivePermissions(row.role, null)]),
  )
  const grantIds = below.map(({ id }) => id)
  return readerOf(principal, permissions, grantIds)
}

type SearchDeps = Pick<Parts, 'clock' | 'config' | 'db'>

const oldestKeptAt = ({ clock, config }: SearchDeps): Date => daysAfter(clock.now(), -config.EVENT_RETENTION_DAYS)

/** Finds an event that is still stored. Another tenant's event counts as unknown. */
const findOwnEvent = async (deps: SearchDeps, reader: Reader, id: Uuid): Promise<StoredEvent | undefined> => {
  const event = await findEvent(deps.db, id)
  return event && mayRead(reader, event) && event.createdAt >= oldestKeptAt(deps) ? event : undefined
}

const acquireSlot = async ({ config }: Pick<Parts, 'config'>, slots: StreamSlots, { accountId, grant }: Principal) => {
  const slot = await slots.acquire(accountId, grant?.lineage[0] ?? null)
  if (slot !== null) return slot
  throw new Refusal('rate_limited', {
    message: `An account has at most ${config.STREAMS_PER_ACCOUNT} open streams, and a key with all that are below it half of them.`,
    headers: { 'retry-after': '5' },
  })
}

/** Throws only before the first byte. `fanOut`: streams of this process. `slots`: streams of all processes. */
export const openNotificationStream = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db' | 'logger'>,
  { fanOut, slots, resets }: { fanOut: FanOut; slots: StreamSlots; resets: Set<() => void> },
  principal: Principal,
  request: {
    reauthenticate: () => Promise<Principal>
    types: readonly TypePattern[] | undefined
    lastEventId: Uuid | undefined
    connect: () => SseConnection
  },
): Promise<void> => {
  // An open stream keeps `reauthenticate`, but must not keep the rest of `request`.
  const { reauthenticate, lastEventId } = request
  const { accountId } = principal
  const reader = await findReader(deps.db, principal)
  const last = lastEventId === undefined ? undefined : await findOwnEvent(deps, reader, lastEventId)
  const start = last ? { replayFrom: last } : { isPast: await readPast(deps.db) }
  const slot = await acquireSlot(deps, slots, principal)
  const connection = request.connect()
  const filter = filterOf(request.types)
  const writeReset = () => connection.write(resetFrame(accountId, deps.clock.now(), deps.config.EVENT_RETENTION_DAYS))
  if (lastEventId && !last) writeReset()
  const close = fanOut.open(reader, start, {
    db: deps.db,
    sink: connection,
    send: (event) => (filter?.(event.type) === false ? true : connection.write(frameOf(event))),
    resolveReader: async () => findReader(deps.db, await reauthenticate()),
    hasEnded: (error) => {
      if (!(error instanceof Refusal)) deps.logger.error(describeError(error), "a stream's credential could not be checked")
      return error instanceof Refusal && error.status < 500
    },
  })
  // Called if the database has lost events that were sent. The client then reads the resources again.
  const reset = () => {
    writeReset()
    close()
    connection.end()
  }
  resets.add(reset)
  connection.onClose(() => {
    resets.delete(reset)
    close()
    slots.release(slot)
  })
}

const maxPageSize = 500
/** The position before all events. */
const beginning: Position = { transaction: '0', id: firstId }

/** Null: reads from the newest event back. */
const startPosition = async (deps: SearchDeps, reader: Reader, id: Uuid | 'start' | undefined): Promise<Position | null> => {
  if (id === undefined) return null
  if (id === 'start') return beginning
  const event = await findOwnEvent(deps, reader, id)
  if (event) return event
  throw invalidAt(
    'after',
    'This event is not known, or older than what is kept: read the resources again and start from the newest event.',
    'invalid_cursor',
  )
}

const later = (time: Date | undefined, other: Date): Date => (time && time > other ? time : other)

type NotificationsSearch = Omit<NotificationsQuery, keyof PageQuery | 'wait_seconds'>

/**
 * The events of the stream, for polling. With `after`, returns later events, oldest first; otherwise the newest first. Reads
 * until a page is full of events that the reader may see.
 */
export const listNotifications = async (
  deps: SearchDeps,
  principal: Principal,
  { after, type: types, created_after: createdAfter, created_before: until }: NotificationsSearch,
  { before, take }: PageRequest,
): Promise<StoredEvent[]> => {
  const reader = await findReader(deps.db, principal)
  const start = await startPosition(deps, reader, before ?? after)
  const audience = audienceOf(reader, filterOf(types))
  if (audience.types.length === 0) return []
  const oldestKept = oldestKeptAt(deps)
  const since = later(createdAfter, oldestKept)
  const isBetween = ({ createdAt }: StoredEvent) => createdAt > since && (until === undefined || createdAt < until)
  // Rounds down to a second, so that requests of one turn share a query. `isBetween` checks the exact time.
  const wholeSecond = new Date(oldestKept.getTime() - (oldestKept.getTime() % 1_000))
  const times = { since: later(createdAfter, wholeSecond), until }
  const range = after !== undefined && start ? await transactionRange(deps.db, since, until) : undefined
  const earliest: Position | null = range ? { transaction: range.first, id: firstId } : null
  let position = earliest && start && comparePositions(start, earliest) < 0 ? earliest : start
  const collected: StoredEvent[] = []
  let size = take
  let hasMore = true
  while (hasMore && collected.length < take) {
    const page =
      range && position
        ? await eventsAfter(deps.db, { from: position, audience, take: size })
        : await eventsBefore(deps.db, { from: position, audience, take: size, ...times })
    collected.push(...page.filter((event) => isBetween(event) && mayRead(reader, event)))
    position = page.at(-1) ?? null
    hasMore = page.length === size && !(range && position && BigInt(position.transaction) > BigInt(range.last))
    // Each page is larger than the one before, because the reader may see only a few of very many events.
    size = Math.min(2 * size, maxPageSize)
  }
  return collected.slice(0, take)
}

const pollMs = 500

/**
 * Like `listNotifications`, but waits for the first event, for a program that is started now and then. Each poll checks the
 * credential first. A waiting request counts as a stream of its account.
 */
export const awaitNotifications = async (
  deps: SearchDeps,
  { slots, closing }: { slots: StreamSlots; closing: AbortSignal },
  request: {
    principal: Principal
    reauthenticate: () => Promise<Principal>
    raw: { socket: Socket }
    query: NotificationsQuery
  },
  page: PageRequest,
): Promise<StoredEvent[]> => {
  const { principal, reauthenticate, raw } = request
  const { wait_seconds: seconds, ...query } = request.query
  if (seconds > 0 && query.after === undefined)
    throw invalidFields({ path: 'wait_seconds', message: 'is taken with after alone: after=start begins with the oldest event' })
  const first = await listNotifications(deps, principal, query, page)
  if (first.length > 0 || seconds === 0) return first
  const slot = await acquireSlot(deps, slots, principal)
  const gone = new AbortController()
  const abort = () => gone.abort()
  raw.socket.once('close', abort)
  const ended = AbortSignal.any([closing, gone.signal])
  try {
    for (let left = seconds * 1_000; left > 0 && !ended.aborted; left -= pollMs) {
      await pause(Math.min(left, pollMs), undefined, { signal: ended }).catch(() => undefined)
      if (ended.aborted) break
      const events = await listNotifications(deps, await reauthenticate(), query, page)
      if (events.length > 0) return events
    }
    return []
  } finally {
    raw.socket.off('close', abort)
    slots.release(slot)
  }
}
