import type { Db } from '../db/client.ts'
import { comparePositions, eventsAfter, type Position, type StoredEvent } from './read.ts'
import { audienceOf, lostWorkspace, mayRead, type Reader } from './visibility.ts'

/** The receiver of a stream's events. */
export type Sink = {
  /** False when the peer does not accept more yet. */
  send: (event: StoredEvent) => boolean
  isBlocked: () => boolean
  drained: () => Promise<boolean>
  end: () => void
}

export type StreamOptions = {
  db: Db
  sink: Sink
  reader: Reader
  /** The credential's principal now; throws when the credential has ended. */
  lookAgain: () => Promise<Reader>
  /** Whether an error of `lookAgain` means that the credential has ended, and not that it could not be read. */
  hasEnded: (error: unknown) => boolean
  /** Called before the reader changes what it is sent. */
  onReader: (reader: Reader) => void
  /** The peer knows everything up to here, or did not ask for it. */
  from: Position
  /** Whether there may be events after `from` that the feed will not deliver. */
  replay: boolean
  /** The last event that the feed has delivered, and with it every change of the credential up to there. */
  delivered: () => Position
  /** Events that the stream did not ask for, although the feed has not reached them yet. */
  isPast: (event: Position) => boolean
}

export type Stream = {
  reader: () => Reader
  /** The feed's next event, in order. */
  push: (event: StoredEvent) => void
  /** The credential may have changed: nothing after `since` is sent before it has been checked. */
  recheck: (since: Position) => void
  end: () => void
}

/** How many live events wait while a stream catches up; with more of them the table is read once more instead. */
const maxHeld = 100
const pageSize = 100
const retryMs = 1_000

/**
 * One reader's position in the feed. Live events are sent as they come. While the stream waits (for a replay, a check of the credential, a
 * slow peer), a few events are held in memory; then the table is read from the last position on, and the held ones follow. So a stream has
 * no gap and no repetition, and no long queue: what a slow peer has missed is in the table.
 */
export const createStream = (options: StreamOptions): Stream => {
  const { db, sink } = options
  let { reader } = options
  let cursor = options.from
  /** The reader was looked at when everything up to here had happened. */
  let known = options.from
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

  const checkReader = async (): Promise<void> => {
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
      // Check first: it is not known any more whether the rest may be sent.
      if (isStale) isBehind = true
      if (ended || isStale) return
      // The table is ahead of the feed: what has changed the reader since is told by no event yet.
      if (comparePositions(event, known) > 0 && comparePositions(event, options.delivered()) > 0) {
        known = page.at(-1) ?? event
        isStale = true
        isBehind = true
        return
      }
      if (!send(event) && !(await sink.drained())) return end()
    }
  }

  const work = async (): Promise<void> => {
    while (!ended && (isStale || isBehind)) {
      if (isStale) await checkReader()
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
      // Not known now: nothing is sent until it is.
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
