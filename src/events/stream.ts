import type { Db } from '../db/client.ts'
import { comparePositions, eventsAfter, type Position, type StoredEvent } from './read.ts'
import { audienceOf, lostWorkspace, mayRead, type Reader } from './visibility.ts'

/** Where a stream's events go. */
export type Sink = {
  /** False when the peer must be waited for. */
  send: (event: StoredEvent) => boolean
  isBlocked: () => boolean
  drained: () => Promise<boolean>
  end: () => void
}

export type StreamOptions = {
  db: Db
  sink: Sink
  reader: Reader
  /** Who the credential stands for now; throws when it has ended. */
  lookAgain: () => Promise<Reader>
  /** Whether an error of `lookAgain` says that the credential has ended, rather than that it could not be looked up. */
  hasEnded: (error: unknown) => boolean
  /** Called before the reader changes what it is sent. */
  onReader: (reader: Reader) => void
  /** Everything up to here is known to the peer, or is not asked for. */
  from: Position
  /** Whether there may be events after `from` that the feed will not deliver. */
  replay: boolean
  /** What is not asked for although the feed has not come to it yet. */
  isPast: (event: Position) => boolean
}

export type Stream = {
  reader: () => Reader
  /** The feed's next event, in order. */
  push: (event: StoredEvent) => void
  /** The credential may have changed: nothing behind `since` goes out before it has been looked at. */
  recheck: (since: Position) => void
  end: () => void
}

/** How many live events wait while a stream catches up; with more the table is read once more instead. */
const maxHeld = 100
const pageSize = 100
const retryMs = 1_000

/**
 * One reader's place in the feed. Live events go out as they come. While something has to be waited for (a replay, a look at the
 * credential, a slow peer) they are held, a few of them; then the table is read from the last place on, and the held ones follow.
 * So a stream has no gap and no repetition, and keeps no queue: what a slow peer has missed stays in the table.
 */
export const createStream = (options: StreamOptions): Stream => {
  const { db, sink } = options
  let { reader } = options
  let cursor = options.from
  let held: StoredEvent[] | undefined
  let isBehind = false
  let isStale = false
  let ended = false

  const end = () => {
    ended = true
    held = undefined
    sink.end()
  }

  const send = (event: StoredEvent): boolean => {
    if (comparePositions(event, cursor) <= 0) return true
    cursor = { transaction: event.transaction, id: event.id }
    return options.isPast(event) || !mayRead(reader, event) || sink.send(event)
  }

  const look = async (): Promise<void> => {
    isStale = false
    const after = await options.lookAgain()
    if (ended) return
    if (lostWorkspace(reader, after)) return end()
    options.onReader(after)
    reader = after
  }

  const catchUp = async (): Promise<void> => {
    held = []
    isBehind = false
    const page = await eventsAfter(db, cursor, audienceOf(reader), pageSize)
    if (page.length === pageSize) isBehind = true
    for (const event of page) {
      // Look first: whether the rest may be sent is not known any more.
      if (isStale) isBehind = true
      if (ended || isStale) return
      if (!send(event) && !(await sink.drained())) return end()
    }
  }

  const work = async (): Promise<void> => {
    while (!ended && (isStale || isBehind)) {
      if (isStale) await look()
      else if (await sink.drained()) await catchUp()
      else end()
    }
    const waiting = held ?? []
    held = undefined
    waiting.forEach(push)
  }

  const run = (): void => {
    work().catch((error: unknown) => {
      if (ended) return
      if (options.hasEnded(error)) return end()
      // Unknown now: nothing is sent until it is known.
      isStale = true
      isBehind = true
      setTimeout(run, retryMs).unref()
    })
  }

  const pause = (): void => {
    if (held || ended) return
    held = []
    run()
  }

  const push = (event: StoredEvent): void => {
    if (ended) return
    if (!held) {
      send(event)
      if (!sink.isBlocked()) return
    } else if (held.length < maxHeld) {
      held.push(event)
      return
    }
    isBehind = true
    pause()
  }

  if (options.replay) {
    isBehind = true
    pause()
  }
  return {
    reader: () => reader,
    push,
    recheck: (since) => {
      if (!held && comparePositions(since, cursor) > 0) cursor = since
      isStale = true
      isBehind = true
      pause()
    },
    end,
  }
}
