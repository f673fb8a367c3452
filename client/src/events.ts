import { PaymentsError } from './errors.ts'
import type { Schemas } from './route-types.ts'
import { createSseParser, type SseMessage } from './sse.ts'
import { backoffMs, mayPass, pause, refusalOf, requestOf, type TransportOptions } from './transport.ts'

/** The events since the named one are no longer available: read the resources again, then continue. */
export type StreamReset = {
  id: null
  type: 'stream.reset'
  created_at: string
  data: { message: string; retention_days: number }
}
export type PaymentsEvent = Exclude<Schemas['Event'], { type: 'stream.reset' }>

export type EventsOptions = {
  /** The last event that was handled, from wherever the program keeps it. Without one the stream begins now. */
  lastEventId?: string
  /** Only these: single types, or all of a resource (`payment.*`). */
  types?: readonly string[]
  /** Ends the loop without an error. */
  signal?: AbortSignal
  /** Called whenever a connection is open: from then on no event is missed. */
  onOpen?: () => void
  /** Called for every connection that ended and is opened again. */
  onReconnect?: (reason: unknown) => void
}

/** The server writes a comment every 25 seconds: after two and a half of these without one, the connection counts as dead. */
const silenceMs = 62_500
const remembered = 1_000

type Progress = { lastId: string | undefined; retryMs: number; failures: number }

/** The events that a reader already has: a replay after a reconnect may repeat them. */
const createMemory = () => {
  const seen = new Set<string>()
  return (id: string): boolean => {
    if (seen.has(id)) return false
    seen.add(id)
    const [oldest] = seen
    if (seen.size > remembered && oldest !== undefined) seen.delete(oldest)
    return true
  }
}

const connect = async (
  options: TransportOptions,
  progress: Progress,
  types: readonly string[],
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> => {
  const { url, init } = await requestOf(
    options,
    { method: 'GET', path: '/v1/notifications/stream', query: { type: types } },
    { accept: 'text/event-stream', ...(progress.lastId !== undefined && { 'last-event-id': progress.lastId }) },
  )
  const response = await options.fetch(url, { ...init, signal, cache: 'no-store' })
  if (!response.ok) throw refusalOf(response, await response.text())
  if (!response.body) throw new Error('the stream has no body')
  return response.body
}

/** The messages of one connection, until it ends, fails or falls silent. */
async function* messagesOf(options: TransportOptions, progress: Progress, events: EventsOptions): AsyncGenerator<SseMessage> {
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const alive = () => {
    clearTimeout(timer)
    timer = setTimeout(() => ended.abort(new Error('the stream fell silent')), silenceMs)
  }
  const stop = () => ended.abort(events.signal?.reason)
  events.signal?.addEventListener('abort', stop, { once: true })
  if (events.signal?.aborted) stop()
  try {
    alive()
    const reader = (await connect(options, progress, events.types ?? [], ended.signal)).getReader()
    events.onOpen?.()
    const decoder = new TextDecoder()
    const parse = createSseParser()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      alive()
      for (const part of parse(decoder.decode(value, { stream: true }))) {
        if ('retryMs' in part) progress.retryMs = part.retryMs
        else if ('data' in part) yield part
      }
    }
  } finally {
    clearTimeout(timer)
    events.signal?.removeEventListener('abort', stop)
    ended.abort()
  }
}

const isOver = (error: unknown): boolean => error instanceof PaymentsError && !mayPass(error)

const waitAfter = (error: unknown, progress: Progress): number => {
  const retryAfterMs = error instanceof PaymentsError ? error.retryAfterMs : undefined
  // The server's own wait for a connection that ended; longer each time that none could be opened.
  return (
    retryAfterMs ??
    (progress.failures === 0
      ? progress.retryMs * (0.5 + Math.random() / 2)
      : Math.max(progress.retryMs, backoffMs(progress.failures)))
  )
}

/**
 * Every event that the credential may read, once and in order, over as many connections as needed. Throws when the credential has ended
 * (401, 403). `newestId`: the account's newest event before the first connection, so that no event is missed in between.
 */
export async function* readEvents(
  options: TransportOptions,
  events: EventsOptions,
  newestId: () => Promise<string | undefined>,
): AsyncGenerator<PaymentsEvent | StreamReset, void, undefined> {
  const isNew = createMemory()
  const progress: Progress = { lastId: events.lastEventId, retryMs: 3_000, failures: 0 }
  for (;;) {
    let reason: unknown
    try {
      progress.lastId ??= await newestId()
      for await (const message of messagesOf(options, progress, events)) {
        progress.failures = 0
        const event = JSON.parse(message.data) as PaymentsEvent | StreamReset
        if (event.id === null) progress.lastId = undefined
        else if (!isNew(event.id)) continue
        else progress.lastId = event.id
        yield event
      }
    } catch (error) {
      if (events.signal?.aborted) return
      if (isOver(error)) throw error
      reason = error
      progress.failures += 1
    }
    if (events.signal?.aborted) return
    events.onReconnect?.(reason)
    await pause(waitAfter(reason, progress), events.signal).catch(() => undefined)
    if (events.signal?.aborted) return
  }
}
