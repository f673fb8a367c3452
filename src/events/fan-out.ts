import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Feed } from './feed.ts'
import type { Position, StoredEvent } from './read.ts'
import { Stream, type StreamOptions } from './stream.ts'
import { mayChangeAccess, resourceOf } from './types.ts'
import type { Reader } from './visibility.ts'

const nothingIsPast = () => false

const tickMs = 250
/** Detects changes without an event, made directly in the database. */
const sweepMs = 60_000

type Index = Map<Uuid, Set<Stream>>

const add = (index: Index, key: Uuid, stream: Stream) => {
  const streams = index.get(key)
  if (streams) streams.add(stream)
  else index.set(key, new Set([stream]))
}

const remove = (index: Index, key: Uuid, stream: Stream) => {
  const streams = index.get(key)
  streams?.delete(stream)
  if (streams?.size === 0) index.delete(key)
}

const difference = (all: Iterable<Uuid>, less: Reader['workspaces']): Uuid[] => [...all].filter((id) => !less.has(id))

/** Passes the feed's events to the streams of this process that may need them. */
export const createFanOut = ({ feed, clock }: { feed: Feed; clock: Clock }) => {
  const byAccount: Index = new Map()
  const byWorkspace: Index = new Map()
  const checkedAt = new Map<Stream, number>()
  let last: Position = feed.position()
  let ticker: NodeJS.Timeout | undefined
  let closed = false

  const recheckReaders = (event: StoredEvent) => {
    if (!mayChangeAccess(event.type)) return
    // Changes of keys and grants affect only delegated streams, not the person's own.
    const delegation = ['api_key', 'grant', 'account'].includes(resourceOf(event.type))
    for (const stream of byAccount.get(event.accountId) ?? [])
      if (!delegation || stream.reader.grants !== null) stream.recheck(last)
  }

  const deliver = (event: StoredEvent) => {
    recheckReaders(event)
    const ofWorkspace = event.workspaceId === null ? undefined : byWorkspace.get(event.workspaceId)
    // Iterates over a copy, because a stream that ends during the loop removes itself from the index.
    for (const stream of [...((event.workspaceId === null ? byAccount.get(event.accountId) : ofWorkspace) ?? [])])
      stream.push(event)
    last = { transaction: event.transaction, id: event.id }
  }

  const tick = () => {
    const now = clock.now()
    const at = performance.now()
    for (const [stream, checked] of checkedAt) {
      const { expiresAt } = stream.reader
      if ((expiresAt === null || expiresAt > now) && at - checked < sweepMs) continue
      checkedAt.set(stream, at)
      stream.recheck(feed.position())
    }
  }

  feed.subscribe({ receive: (events) => events.forEach(deliver), isListening: () => checkedAt.size > 0 })

  const forget = (stream: Stream) => {
    const { accountId, workspaces } = stream.reader
    remove(byAccount, accountId, stream)
    for (const id of workspaces.keys()) remove(byWorkspace, id, stream)
    checkedAt.delete(stream)
    if (checkedAt.size > 0) return
    clearInterval(ticker)
    ticker = undefined
  }

  const onReader = (stream: Stream, after: Reader) => {
    const before = stream.reader.workspaces
    for (const id of difference(before.keys(), after.workspaces)) remove(byWorkspace, id, stream)
    for (const id of difference(after.workspaces.keys(), before)) add(byWorkspace, id, stream)
  }

  return {
    /** `start`: an event to replay from, or a test for past events to skip. Returns a function that ends the stream. */
    open: (
      reader: Reader,
      start: { replayFrom: Position } | { isPast: (event: Position) => boolean },
      options: Pick<StreamOptions, 'db' | 'sink' | 'send' | 'resolveReader' | 'hasEnded'>,
    ) => {
      const place =
        'replayFrom' in start
          ? { from: start.replayFrom, replay: true, isPast: nothingIsPast }
          : { from: feed.position(), replay: false, ...start }
      const stream = new Stream(reader, { ...options, ...place, delivered: feed.position, onReader })
      add(byAccount, reader.accountId, stream)
      for (const id of reader.workspaces.keys()) add(byWorkspace, id, stream)
      checkedAt.set(stream, performance.now())
      ticker ??= setInterval(tick, tickMs).unref()
      // The stream may have missed changes of its credential before it was added to the index.
      if (closed) stream.end()
      else stream.recheck(feed.position())
      return () => {
        stream.end()
        forget(stream)
      }
    },
    close: () => {
      closed = true
      for (const stream of [...checkedAt.keys()]) stream.end()
    },
  }
}

export type FanOut = ReturnType<typeof createFanOut>
