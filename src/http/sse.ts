import { randomInt } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** The server's side of one text/event-stream response. */
export type SseConnection = {
  /** False when the peer has not read the earlier output: wait for `drained`, so that nothing piles up here. */
  write: (text: string) => boolean
  isBlocked: () => boolean
  /** True when the peer has read everything; false when it is gone. */
  drained: () => Promise<boolean>
  end: () => void
  onClose: (listener: () => void) => void
}

const reconnectMs = 3_000
const earliestReturnMs = 100
/** A peer that reads nothing for this time is disconnected: it comes back with the id of its last event. */
const stallMs = 5_000

/**
 * Answers with an event stream, written on the raw response: the headers that the hooks have set (request id, security, CORS) are sent with
 * it. For a slow peer at most one write and the system's socket buffer are kept in memory.
 */
export const openSse = (reply: FastifyReply, options: { pingSeconds: number }): SseConnection => {
  const { departure } = reply.server
  reply.hijack()
  const { raw } = reply
  // A stream may be silent for longer than any other connection; a check below detects a peer that reads nothing.
  raw.socket?.setTimeout(0)
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  // Sent by themselves: as the beginning of a longer text they stay in memory in 90 parts, 3 KB a stream.
  raw.flushHeaders()
  raw.write(`retry: ${reconnectMs}\n\n`)

  let waiting: ((drained: boolean) => void)[] | undefined
  let stall: NodeJS.Timeout | undefined
  const settle = (drained: boolean) => {
    clearTimeout(stall)
    stall = undefined
    const all = waiting ?? []
    waiting = undefined
    for (const resolve of all) resolve(drained)
  }
  const write = (text: string): boolean => {
    if (raw.destroyed || raw.writableEnded) return false
    const taken = raw.write(text)
    if (!taken) stall ??= setTimeout(() => raw.destroy(), Math.min(stallMs, options.pingSeconds * 1000)).unref()
    return taken
  }
  const ping = setInterval(() => {
    if (!raw.writableNeedDrain) write(': ping\n\n')
  }, options.pingSeconds * 1000).unref()
  // The peer may have disconnected while its request was processed: then no event reports it any more.
  let closed = raw.destroyed
  if (closed) clearInterval(ping)
  raw.on('drain', () => settle(true))
  raw.on('error', () => undefined)
  raw.once('close', () => {
    closed = true
    clearInterval(ping)
    settle(false)
  })

  return {
    write,
    isBlocked: () => raw.writableNeedDrain,
    drained: () => {
      if (raw.destroyed || raw.writableEnded) return Promise.resolve(false)
      if (!raw.writableNeedDrain) return Promise.resolve(true)
      return new Promise((resolve) => {
        waiting ??= []
        waiting.push(resolve)
      })
    },
    end: () => {
      if (raw.writableNeedDrain) raw.destroy()
      // The process ends: its readers come back one after another, not all at once.
      else if (departure.hasBegun()) raw.end(`retry: ${randomInt(earliestReturnMs, reconnectMs)}\n\n`)
      else raw.end()
    },
    onClose: (listener) => {
      if (closed) listener()
      else raw.once('close', listener)
    },
  }
}
