import type { Client, Credentials, Json } from './client.ts'

export type StreamEvent = { id: string; type: string; data: Json }

export type EventStream = {
  status: number
  headers: Headers
  /** All text from the wire. */
  text: () => string
  /** Every event so far, including those that `next` skipped. */
  seen: StreamEvent[]
  /** The next event, or the next one of a type; earlier ones are skipped. */
  next: (type?: string) => Promise<StreamEvent>
  /** The next comment's text, colon included. */
  comment: () => Promise<string>
  /** Settles when the server has ended the stream. */
  ended: () => Promise<void>
  /** Closes the connection, as a browser's tab does. */
  close: () => void
}

export type StreamOptions = Credentials & {
  lastEventId?: string
  path?: string
  headers?: Record<string, string>
  timeoutMs?: number
}

const defaultTimeoutMs = 60_000

const fieldOf = (block: string, name: string): string | undefined => {
  const lines = block.split('\n').filter((line) => line === name || line.startsWith(`${name}:`))
  return lines.length === 0 ? undefined : lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n')
}

/**
 * An EventSource for tests. Everything is awaited: `next` resolves with an event that has arrived or arrives later, and otherwise
 * fails with a list of the arrivals. Answers other than a stream are returned with their status.
 */
export const openStream = async (client: Client, options: StreamOptions = {}): Promise<EventStream> => {
  const { bearer, cookie } = { ...client.credentials, ...options }
  const leave = new AbortController()
  const response = await fetch(client.url + (options.path ?? '/v1/notifications/stream'), {
    signal: leave.signal,
    headers: {
      accept: 'text/event-stream',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(cookie !== undefined && { cookie: `service_session=${cookie}` }),
      ...(options.lastEventId !== undefined && { 'last-event-id': options.lastEventId }),
      ...options.headers,
    },
  })
  const seen: StreamEvent[] = []
  const comments: string[] = []
  let text = ''
  let taken = 0
  let commentsTaken = 0
  let over = false
  let changed = Promise.withResolvers<void>()

  const announce = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const readBlock = (block: string) => {
    comments.push(...block.split('\n').filter((line) => line.startsWith(':')))
    const data = fieldOf(block, 'data')
    if (data !== undefined)
      seen.push({ id: fieldOf(block, 'id') ?? '', type: fieldOf(block, 'event') ?? 'message', data: JSON.parse(data) })
  }
  const readAll = async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true })
      text += piece
      const blocks = (rest + piece).split('\n\n')
      rest = blocks.pop() ?? ''
      blocks.forEach(readBlock)
      announce()
    }
  }
  void readAll()
    .catch(() => undefined)
    .finally(() => {
      over = true
      announce()
    })

  const until = async <T>(what: string, find: () => T | undefined): Promise<T> => {
    const deadline = performance.now() + (options.timeoutMs ?? defaultTimeoutMs)
    for (;;) {
      const match = find()
      if (match !== undefined) return match
      const had = `it had ${seen.map((event) => event.type).join(', ') || 'no events'}, and ${comments.length} comments`
      if (over) throw new Error(`the stream ended before ${what}; ${had}`)
      const remaining = deadline - performance.now()
      if (remaining <= 0) throw new Error(`the stream brought no ${what} in time; ${had}`)
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, remaining)
      await Promise.race([changed.promise, late.promise])
      clearTimeout(timer)
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    text: () => text,
    seen,
    next: (type) =>
      until(type ?? 'event', () => {
        const index = seen.findIndex((event, nth) => nth >= taken && (type === undefined || event.type === type))
        if (index < 0) return undefined
        taken = index + 1
        return seen[index]
      }),
    comment: () =>
      until('comment', () => {
        const comment = comments[commentsTaken]
        if (comment !== undefined) commentsTaken += 1
        return comment
      }),
    ended: () => until('its end', () => (over ? true : undefined)).then(() => undefined),
    close: () => leave.abort(),
  }
}
