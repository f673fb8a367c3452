import type { Db } from '../db/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Feed } from './feed.ts'
import { comparePositions, eventsAfter, type Position, type StoredEvent } from './read.ts'
import { changesReader, resourceOf } from './types.ts'
import { audienceOf, lostWorkspace, mayRead, type Reader } from './visibility.ts'

export type Sink = {
  isBlocked: () => boolean
  drained: () => Promise<boolean>
  end: () => void
}

export type StreamOptions = {
  db: Db
  sink: Sink
  send: (event: StoredEvent) => boolean
  /** Throws if the credential has ended. */
  lookAgain: () => Promise<Reader>
  /** Whether an error of `lookAgain` means that the credential has ended, rather than that it could not be read. */
  hasEnded: (error: unknown) => boolean
  onReader: (stream: Stream, after: Reader) => void
  /** The stream's start: the peer knows everything up to this position, or did not ask for it. */
  from: Position
  /** Whether there may be events after `from` that the feed will not deliver. */
  replay: boolean
  /** The last event that the feed delivered. All earlier changes of the credential were delivered too. */
  delivered: () => Position
  /** Whether an event was committed before the stream was requested, so that the stream skips it. */
  isPast: (event: Position) => boolean
}

/** Maximum number of live events to hold while a stream catches up. Beyond that, the stream reads the table again instead. */
const maxHeld = 100
const pageSize = 100
const retryMs = 1_000

/**
 * One reader's position in the feed. While the stream waits (for a replay, a credential check or a slow peer), it holds a few
 * live events. It then reads the table from its last position and continues with the held events, without gaps or repeats. A
 * class, because closures would cost each of ten thousand streams 800 bytes.
 */
export class Stream {
  readonly #options: StreamOptions
  #reader: Reader
  #cursor: Position
  /** The position up to which the reader's permissions are known to be current. */
  #known: Position
  #held: StoredEvent[] | undefined
  #isBehind = false
  #isStale = false
  #ended = false

  constructor(reader: Reader, options: StreamOptions) {
    this.#reader = reader
    this.#options = options
    this.#cursor = options.from
    this.#known = options.from
    if (!options.replay) return
    this.#isBehind = true
    this.#pause()
  }

  get reader(): Reader {
    return this.#reader
  }

  /** Receives the feed's next event, in order. */
  push(event: StoredEvent): void {
    if (this.#ended) return
    if (!this.#held) {
      this.#send(event)
      if (!this.#options.sink.isBlocked()) return
    } else if (this.#held.length < maxHeld) {
      this.#held.push(event)
      return
    }
    this.#isBehind = true
    this.#pause()
  }

  /** Sends nothing after `since` until the credential has been checked. */
  recheck(since: Position): void {
    if (!this.#held && comparePositions(since, this.#cursor) > 0) this.#cursor = since
    this.#isStale = true
    this.#isBehind = true
    this.#pause()
  }

  end(): void {
    this.#ended = true
    this.#held = undefined
    this.#options.sink.end()
  }

  #send(event: StoredEvent): boolean {
    const { isPast, send } = this.#options
    if (comparePositions(event, this.#cursor) <= 0) return true
    this.#cursor = { transaction: event.transaction, id: event.id }
    return isPast(event) || !mayRead(this.#reader, event) || send(event)
  }

  async #checkReader(): Promise<void> {
    this.#isStale = false
    const after = await this.#options.lookAgain()
    if (this.#ended) return
    if (lostWorkspace(this.#reader, after)) return this.end()
    this.#options.onReader(this, after)
    this.#reader = after
  }

  async #catchUp(): Promise<void> {
    const { db, sink, delivered } = this.#options
    this.#held = []
    this.#isBehind = false
    // The feed delivers an event only once, so missed events are read from the table.
    const asked = { from: this.#cursor, audience: audienceOf(this.#reader), take: pageSize, delivered: delivered() }
    const page = await eventsAfter(db, asked)
    if (page.length === pageSize) this.#isBehind = true
    for (const event of page) {
      // Checks the credential first, because the reader may have lost access to the remaining events.
      if (this.#isStale) this.#isBehind = true
      if (this.#ended || this.#isStale) return
      // The table is ahead of the feed, which may not have delivered an event that changes the reader's permissions.
      if (comparePositions(event, this.#known) > 0 && comparePositions(event, delivered()) > 0) {
        this.#known = page.at(-1) ?? event
        this.#isStale = true
        this.#isBehind = true
        return
      }
      if (!this.#send(event) && !(await sink.drained())) return this.end()
    }
  }

  async #work(): Promise<void> {
    while (!this.#ended && (this.#isStale || this.#isBehind)) {
      if (this.#isStale) await this.#checkReader()
      else if (await this.#options.sink.drained()) await this.#catchUp()
      else this.end()
    }
    const waiting = this.#held ?? []
    this.#held = undefined
    for (const event of waiting) this.push(event)
  }

  #run(): void {
    this.#work().catch((error: unknown) => {
      if (this.#ended) return
      if (this.#options.hasEnded(error)) return this.end()
      this.#isStale = true
      this.#isBehind = true
      setTimeout(() => this.#run(), retryMs).unref()
    })
  }

  #pause(): void {
    if (this.#held || this.#ended) return
    this.#held = []
    this.#run()
  }
}

const nothing = () => false

const tickMs = 250
/** Detects changes without an event: a disabled capability, or a change made directly in the database. */
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

  const recheckConcerned = (event: StoredEvent) => {
    if (!changesReader(event.type)) return
    // Changes of keys and grants affect only delegated streams, not the person's own.
    const delegation = ['api_key', 'grant'].includes(resourceOf(event.type))
    for (const stream of byAccount.get(event.accountId) ?? [])
      if (!delegation || stream.reader.grants !== null) stream.recheck(last)
  }

  const deliver = (event: StoredEvent) => {
    recheckConcerned(event)
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
      options: Pick<StreamOptions, 'db' | 'sink' | 'send' | 'lookAgain' | 'hasEnded'>,
    ) => {
      const place =
        'replayFrom' in start
          ? { from: start.replayFrom, replay: true, isPast: nothing }
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
