import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Shutdown } from './app-type.ts'

const reconnectMs = 3_000
const earliestReturnMs = 100
/** A client that reads nothing for this long is disconnected. It can reconnect with its last event id. */
const stallMs = 5_000

const ignore = () => undefined

/** A class to save memory, because there are ten thousand connections: see `Stream`. */
export class SseConnection {
  readonly #raw: ServerResponse
  readonly #shutdown: Shutdown
  readonly #stallMs: number
  readonly #ping: NodeJS.Timeout
  #waiting: ((drained: boolean) => void)[] | undefined
  #stall: NodeJS.Timeout | undefined
  #whenClosed: (() => void) | undefined
  #closed: boolean

  constructor(raw: ServerResponse, shutdown: Shutdown, pingSeconds: number) {
    this.#raw = raw
    this.#shutdown = shutdown
    this.#stallMs = Math.min(stallMs, pingSeconds * 1000)
    this.#ping = setInterval(() => {
      if (!raw.writableNeedDrain) this.write(': ping\n\n')
    }, pingSeconds * 1000).unref()
    // If the peer disconnected while its request was processed, no `close` event follows.
    this.#closed = raw.destroyed
    if (this.#closed) clearInterval(this.#ping)
    raw.on('drain', () => this.#settle(true))
    raw.on('error', ignore)
    // Node's `once` would cost 370 bytes more.
    raw.on('close', () => {
      this.#closed = true
      clearInterval(this.#ping)
      this.#settle(false)
      this.#whenClosed?.()
    })
  }

  /** False if the peer has not read the earlier output. Wait for `drained` before the next write. */
  write(text: string | Buffer): boolean {
    const raw = this.#raw
    if (raw.destroyed || raw.writableEnded) return false
    const taken = raw.write(text)
    if (!taken) this.#stall ??= setTimeout(() => raw.destroy(), this.#stallMs).unref()
    return taken
  }

  isBlocked(): boolean {
    return this.#raw.writableNeedDrain
  }

  /** False if the peer has disconnected. */
  drained(): Promise<boolean> {
    if (this.#raw.destroyed || this.#raw.writableEnded) return Promise.resolve(false)
    if (!this.#raw.writableNeedDrain) return Promise.resolve(true)
    return new Promise((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }

  end(): void {
    const raw = this.#raw
    if (raw.writableNeedDrain) raw.destroy()
    // The process is stopping, so its readers are told to reconnect at random times instead of all at once.
    else if (this.#shutdown.hasBegun) raw.end(`retry: ${randomInt(earliestReturnMs, reconnectMs)}\n\n`)
    else raw.end()
  }

  /** Accepts only one listener. */
  onClose(listener: () => void): void {
    if (this.#closed) listener()
    else this.#whenClosed = listener
  }

  #settle(drained: boolean): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    const all = this.#waiting ?? []
    this.#waiting = undefined
    for (const resolve of all) resolve(drained)
  }
}

/** Opens a stream with the headers that hooks have set. A slow peer costs at most one write and the system's buffer. */
export const openSse = (reply: FastifyReply, { pingSeconds }: { pingSeconds: number }): SseConnection => {
  reply.hijack()
  const { raw } = reply
  // A stream may be silent for long. The check above detects a peer that reads nothing.
  raw.socket?.setTimeout(0)
  // Sets all headers at once, because Node stores headers that are set one by one in separate lists, at 3 KB per stream.
  raw.writeHead(200, {
    ...Object.fromEntries(Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)),
    'content-type': 'text/event-stream',
    // A proxy that compresses responses would delay events.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  // Sends the headers separately: as part of a longer text, they would stay in memory in 90 parts, at 3 KB per stream.
  raw.flushHeaders()
  raw.write(`retry: ${reconnectMs}\n\n`)
  return new SseConnection(raw, reply.server.shutdown, pingSeconds)
}
