import { type ConnectionState, connect, type Listener } from './connection.ts'
import type { LiveEvent } from './event.ts'

type Message =
  | { kind: 'event'; event: LiveEvent }
  | { kind: 'reset' }
  | { kind: 'state'; state: ConnectionState }
  | { kind: 'hello' }

/**
 * One stream for all tabs of a person: over HTTP/1.1 a browser has six connections for a site, and streams would take them all.
 * The tab that holds the lock has the stream and passes its events to the others; when it closes, the next one takes over.
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

  // Events may be missed between two leaders: the new one reads everything again.
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
