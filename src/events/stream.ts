import type { Db } from '../db/client.ts'
import { comparePositions, eventsAfter, type Position, type StoredEvent } from './read.ts'
import { audienceOf, lostWorkspace, mayRead, type Reader } from './visibility.ts'

type Sink = {
  isBlocked: () => boolean
  drained: () => Promise<boolean>
  end: () => void
}

export type StreamOptions = {
  db: Db
  sink: Sink
  send: (event: StoredEvent) => boolean
  /** Throws if the credential has ended. */
  resolveReader: () => Promise<Reader>
  /** Whether an error of `resolveReader` means that the credential has ended, rather than that it could not be read. */
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
  #checkedThrough: Position
  #held: StoredEvent[] | undefined
  #mustRead = false
  #mustCheck = false
  #ended = false

  constructor(reader: Reader, options: StreamOptions) {
    this.#reader = reader
    this.#options = options
    this.#cursor = options.from
    this.#checkedThrough = options.from
    if (!options.replay) return
    this.#mustRead = true
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
    this.#mustRead = true
    this.#pause()
  }

  /** Sends nothing after `since` until the credential has been checked. */
  recheck(since: Position): void {
    if (!this.#held && comparePositions(since, this.#cursor) > 0) this.#cursor = since
    this.#mustCheck = true
    this.#mustRead = true
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
    this.#mustCheck = false
    const after = await this.#options.resolveReader()
    if (this.#ended) return
    if (lostWorkspace(this.#reader, after)) return this.end()
    this.#options.onReader(this, after)
    this.#reader = after
  }

  async #catchUp(): Promise<void> {
    const { db, sink, delivered } = this.#options
    this.#held = []
    this.#mustRead = false
    // The feed delivers an event only once, so missed events are read from the table.
    const asked = { from: this.#cursor, audience: audienceOf(this.#reader), take: pageSize, delivered: delivered() }
    const page = await eventsAfter(db, asked)
    if (page.length === pageSize) this.#mustRead = true
    for (const event of page) {
      // Checks the credential first, because the reader may have lost access to the remaining events.
      if (this.#mustCheck) this.#mustRead = true
      if (this.#ended || this.#mustCheck) return
      // The table is ahead of the feed, which may not have delivered an event that changes the reader's permissions.
      if (comparePositions(event, this.#checkedThrough) > 0 && comparePositions(event, delivered()) > 0) {
        this.#checkedThrough = page.at(-1) ?? event
        this.#mustCheck = true
        this.#mustRead = true
        return
      }
      if (!this.#send(event) && !(await sink.drained())) return this.end()
    }
  }

  async #work(): Promise<void> {
    while (!this.#ended && (this.#mustCheck || this.#mustRead)) {
      if (this.#mustCheck) await this.#checkReader()
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
      this.#mustCheck = true
      this.#mustRead = true
      setTimeout(() => this.#run(), retryMs).unref()
    })
  }

  #pause(): void {
    if (this.#held || this.#ended) return
    this.#held = []
    this.#run()
  }
}
