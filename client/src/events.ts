import { PaymentsError } from './errors.ts'
import { type Page, Pages } from './pages.ts'
import type { Schemas } from './route-types.ts'
import { createSseParser, type SseMessage } from './sse.ts'
import { backoffMs, mayPass, pause, refusalOf, requestOf, send, type TransportOptions } from './transport.ts'

/** The events after the given id are no longer available. Read the resources again, then continue. */
export type StreamReset = {
  id: null
  type: 'stream.reset'
  created_at: string
  data: { message: string; retention_days: number }
}
export type PaymentsEvent = Exclude<Schemas['Event'], { type: 'stream.reset' }>

export type EventsOptions = {
  /**
   * The last handled event, as the program stored it. If undefined, the stream starts now. If `null`, the program has handled
   * none, and the stream starts at the oldest stored event.
   */
  lastEventId?: string | null
  /** Event types to receive: single types, or all of a resource (`payment.*`). Default: all. */
  types?: readonly string[]
  /** Ends the loop without an error. */
  signal?: AbortSignal
  /** Called whenever a connection opens, after which no event is missed. */
  onOpen?: () => void
  /** Called when a connection has ended and will be reopened. */
  onReconnect?: (reason: unknown) => void
}

/** After this silence a connection counts as dead: two and a half intervals of the server's 25-second comments. */
const silenceMs = 62_500
const remembered = 1_000

/** `lastId` null: no event existed yet, so every event is new. */
type Progress = { lastId: string | null | undefined; retryMs: number; failures: number }

/** Remembers recent event ids, because a replay after a reconnect may repeat events. */
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

/** Lists events, newest first, or in order after an event. */
const listEvents = (options: TransportOptions, query: object, signal: AbortSignal | undefined) =>
  new Pages(async (cursor) => {
    const outgoing = { method: 'GET', path: '/v1/notifications', query: { ...query, cursor }, ...(signal && { signal }) }
    return (await send(options, outgoing)) as Page<PaymentsEvent>
  })

const newestId = async (options: TransportOptions, signal: AbortSignal | undefined): Promise<string | null> =>
  (await listEvents(options, { limit: 1 }, signal).page()).data[0]?.id ?? null

const oldestEvent = async (options: TransportOptions, types: readonly string[], signal: AbortSignal) =>
  (await listEvents(options, { after: 'start', limit: 1, type: types }, signal).page()).data[0]

/** Yields the messages of one connection until it ends, fails or becomes silent. */
async function* messagesOf(options: TransportOptions, progress: Progress, events: EventsOptions): AsyncGenerator<SseMessage> {
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const alive = () => {
    clearTimeout(timer)
    timer = setTimeout(() => ended.abort(new Error('the stream stopped sending')), silenceMs)
  }
  const stop = () => ended.abort(events.signal?.reason)
  events.signal?.addEventListener('abort', stop, { once: true })
  if (events.signal?.aborted) stop()
  try {
    alive()
    const types = events.types ?? []
    const reader = (await connect(options, progress, types, ended.signal)).getReader()
    // A stream resumes only after an event: the list provides the first missed one, and the next connection the others.
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
  // Waits as long as the server asks after a connection ends. The wait grows with each failure to connect.
  return (
    retryAfterMs ??
    (progress.failures === 0
      ? progress.retryMs * (0.5 + Math.random() / 2)
      : Math.max(progress.retryMs, backoffMs(progress.failures)))
  )
}

/**
 * Yields every event that the credential may read, once and in order, reconnecting as needed. Throws once the credential has
 * ended (401, 403).
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
      // Starts after the newest event, so that none is missed before the first connection.
      if (progress.lastId === undefined) progress.lastId = await newestId(options, events.signal)
      for await (const message of messagesOf(options, progress, events)) {
        progress.failures = 0
        const event = JSON.parse(message.data) as PaymentsEvent | StreamReset
        // Reads the newest id before the program rereads its resources, so that later events survive a lost connection.
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
