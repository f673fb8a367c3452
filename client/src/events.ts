import { PaymentsError } from './errors.ts'
import { type Page, Pages } from './pages.ts'
import type { Schemas } from './route-types.ts'
import { createSseParser, type SseMessage } from './sse.ts'
import { backoffMs, mayPass, pause, refusalOf, requestOf, send, type TransportOptions } from './transport.ts'

/** The events since the named one are no longer available: read the resources again, then continue. */
export type StreamReset = {
  id: null
  type: 'stream.reset'
  created_at: string
  data: { message: string; retention_days: number }
}
export type PaymentsEvent = Exclude<Schemas['Event'], { type: 'stream.reset' }>

export type EventsOptions = {
  /**
   * The last event that was handled, from wherever the program keeps it. Without one the stream begins now; with `null`, for a program
   * that began before any event, at the oldest that is stored.
   */
  lastEventId?: string | null
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

/** `lastId` is null where nothing could be read yet: every event is then new. */
type Progress = { lastId: string | null | undefined; retryMs: number; failures: number }

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
    { accept: 'text/event-stream', ...(progress.lastId && { 'last-event-id': progress.lastId }) },
  )
  const response = await options.fetch(url, { ...init, signal, cache: 'no-store' })
  if (!response.ok) throw refusalOf(response, await response.text())
  if (!response.body) throw new Error('the stream has no body')
  return response.body
}

/** Newest first. */
const listEvents = (options: TransportOptions, query: object, signal: AbortSignal | undefined) =>
  new Pages(async (cursor) => {
    const outgoing = { method: 'GET', path: '/v1/notifications', query: { ...query, cursor }, ...(signal && { signal }) }
    return (await send(options, outgoing)) as Page<PaymentsEvent>
  })

const newestId = async (options: TransportOptions, signal: AbortSignal | undefined): Promise<string | null> =>
  (await listEvents(options, { limit: 1 }, signal).page()).data[0]?.id ?? null

const oldestEvent = async (options: TransportOptions, types: readonly string[], signal: AbortSignal) => {
  let last: PaymentsEvent | undefined
  for await (const event of listEvents(options, { limit: 100, type: types }, signal)) last = event
  return last
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
    const types = events.types ?? []
    const reader = (await connect(options, progress, types, ended.signal)).getReader()
    // A stream resumes after an event: the first that it missed comes from the list, the others with the next connection.
    const missed = progress.lastId === null ? await oldestEvent(options, types, ended.signal) : undefined
    if (missed) return yield { id: missed.id, event: missed.type, data: JSON.stringify(missed) }
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
 * (401, 403).
 */
export async function* readEvents(
  options: TransportOptions,
  events: EventsOptions,
): AsyncGenerator<PaymentsEvent | StreamReset, void, undefined> {
  const isNew = createMemory()
  const progress: Progress = { lastId: events.lastEventId, retryMs: 3_000, failures: 0 }
  for (;;) {
    let reason: unknown
    try {
      // After the newest event: none is missed between here and the first connection, or before the first event.
      if (progress.lastId === undefined) progress.lastId = await newestId(options, events.signal)
      for await (const message of messagesOf(options, progress, events)) {
        progress.failures = 0
        const event = JSON.parse(message.data) as PaymentsEvent | StreamReset
        // Read before the program reads its resources again: what is newer than those is then never lost with the connection.
        progress.lastId = event.id ?? (await newestId(options, events.signal))
        if (event.id !== null && !isNew(event.id)) continue
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
