import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createStore } from '../lib/store.ts'
import { affectedBy } from './affected.ts'
import type { ConnectionState } from './connection.ts'
import type { LiveEvent } from './event.ts'
import { connectShared } from './shared-connection.ts'

const keptEvents = 200
const gatherMs = 60

export const connection = createStore<ConnectionState>('connecting')
/** What came over the stream since the page was opened, newest first. */
export const recentEvents = createStore<readonly LiveEvent[]>([])

const remember = (event: LiveEvent) => {
  if (recentEvents.get().some(({ id }) => id === event.id)) return
  recentEvents.set([event, ...recentEvents.get()].slice(0, keptEvents))
}

/** Keeps everything on the page as it is at the service: an event says what changed, and that is read again. */
export const Live = ({ accountId }: { accountId: string }) => {
  const client = useQueryClient()
  useEffect(() => {
    const stale = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupted = false
    // A payment makes several events at once; they are one reason to read, not many.
    const refresh = () => {
      timer = undefined
      const names = new Set(stale)
      stale.clear()
      void client.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[0])) })
    }
    const disconnect = connectShared(accountId, {
      onEvent: (event) => {
        remember(event)
        for (const name of affectedBy(event.type)) stale.add(name)
        timer ??= setTimeout(refresh, gatherMs)
      },
      onReset: () => void client.invalidateQueries(),
      onState: (state) => {
        connection.set(state)
        if (state === 'live' && interrupted) void client.invalidateQueries()
        interrupted = state === 'reconnecting'
        // The stream of a session that has ended is closed: asking again finds out.
        if (interrupted) void client.invalidateQueries({ queryKey: ['account'] })
      },
    })
    return () => {
      clearTimeout(timer)
      disconnect()
      recentEvents.set([])
    }
  }, [client, accountId])
  return null
}
