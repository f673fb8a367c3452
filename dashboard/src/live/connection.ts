import { eventTypes } from '../../../src/events/types.ts'
import { type LiveEvent, parseEvent } from './event.ts'

export type ConnectionState = 'connecting' | 'live' | 'reconnecting'

export type Listener = {
  onEvent: (event: LiveEvent) => void
  /** The missed events are no longer in the stream: everything has to be read again. */
  onReset: () => void
  onState: (state: ConnectionState) => void
}

const longestPauseMs = 30_000

/**
 * One EventSource that doesn't give up. The browser itself resumes after a broken connection (with Last-Event-ID); after an answer
 * that is no stream (503, a restart) it stops for good, so then we open a new one, later each time.
 */
export const connect = (listener: Listener): (() => void) => {
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
  // A network that went away leaves the stream open and silent: the system knows before the stream does.
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
