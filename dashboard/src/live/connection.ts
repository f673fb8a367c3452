import { eventTypes } from '../../../src/events/types.ts'

export type LiveEvent = {
  id: string
  type: string
  created_at: string
  account_id: string
  workspace_id: string | null
  data: Record<string, unknown>
}

const parseEvent = (text: string): LiveEvent | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'type' in value && 'data' in value ? (value as LiveEvent) : null
  } catch {
    return null
  }
}

export type ConnectionState = 'connecting' | 'live' | 'reconnecting'

type Listener = {
  onEvent: (event: LiveEvent) => void
  /** Events may have been missed that the stream no longer has: reload everything. */
  onReset: () => void
  onState: (state: ConnectionState) => void
}

const longestPauseMs = 30_000

/**
 * An EventSource that never gives up. The browser reconnects after a broken connection (with Last-Event-ID), but stops for good
 * after an answer that is not a stream, such as a 503. This function then opens a new one, with growing pauses.
 */
const connect = (listener: Listener): (() => void) => {
  let source: EventSource | null = null
  let lastId: string | null = null
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const receive = (message: MessageEvent<string>) => {
    const event = parseEvent(message.data)
    if (!event) return
    lastId = message.lastEventId || event.id
    listener.onEvent(event)
  }

  const open = () => {
    clearTimeout(timer)
    source?.close()
    const from = lastId === null ? '' : `?last_event_id=${encodeURIComponent(lastId)}`
    source = new EventSource(`/v1/notifications/stream${from}`)
    for (const type of eventTypes) source.addEventListener(type, receive)
    source.addEventListener('stream.reset', () => listener.onReset())
    source.onopen = () => {
      failures = 0
      listener.onState('live')
    }
    source.onerror = () => {
      listener.onState('reconnecting')
      if (source?.readyState !== EventSource.CLOSED) return
      failures += 1
      timer = setTimeout(open, Math.min(longestPauseMs, 1000 * 2 ** failures))
    }
  }
  // The browser reports a lost network early, while the stream stays open and silent.
  const lose = () => {
    source?.close()
    listener.onState('reconnecting')
  }

  listener.onState('connecting')
  open()
  addEventListener('offline', lose)
  addEventListener('online', open)
  return () => {
    clearTimeout(timer)
    removeEventListener('offline', lose)
    removeEventListener('online', open)
    source?.close()
  }
}

type Message =
  | { kind: 'event'; event: LiveEvent }
  | { kind: 'reset' }
  | { kind: 'state'; state: ConnectionState }
  | { kind: 'hello' }

/**
 * One stream for all tabs of a person: over HTTP/1.1 a browser opens six connections per site, and streams would take them all.
 * The tab with the lock has the stream and passes events to the others. When it closes, the next tab takes over.
 */
export const connectShared = (account: string, listener: Listener): (() => void) => {
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) return connect(listener)
  const name = `stream:${account}`
  const channel = new BroadcastChannel(name)
  const stopped = new AbortController()
  let state: ConnectionState = 'connecting'
  let leads = false
  const post = (message: Message) => channel.postMessage(message)

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello' && leads) post({ kind: 'state', state })
    if (leads) return
    if (data.kind === 'event') listener.onEvent(data.event)
    if (data.kind === 'reset') listener.onReset()
    if (data.kind === 'state') listener.onState(data.state)
  }
  post({ kind: 'hello' })

  const lead = () =>
    new Promise<void>((resolve) => {
      leads = true
      const disconnect = connect({
        onEvent: (event) => {
          post({ kind: 'event', event })
          listener.onEvent(event)
        },
        onReset: () => {
          post({ kind: 'reset' })
          listener.onReset()
        },
        onState: (next) => {
          state = next
          post({ kind: 'state', state })
          listener.onState(state)
        },
      })
      stopped.signal.addEventListener('abort', () => {
        disconnect()
        resolve()
      })
    })

  // Events may be missed while the lock changes hands, so the tab that takes over reloads everything.
  const leading = navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? lead() : null))
  leading
    .then(() => {
      if (leads || stopped.signal.aborted) return undefined
      return navigator.locks.request(name, { signal: stopped.signal }, () => {
        listener.onReset()
        return lead()
      })
    })
    .catch(() => undefined)

  return () => {
    stopped.abort()
    channel.close()
  }
}
