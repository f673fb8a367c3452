import { setTimeout as wait } from 'node:timers/promises'
import type { Payments, PaymentsEvent } from '#client'

export type Following = {
  /** Waits for the first event of this type (and about this resource, if one is named); throws when it does not come in time. */
  waitFor: (type: PaymentsEvent['type'], resourceId?: string) => Promise<PaymentsEvent>
  /** All events so far, in order of arrival. */
  received: () => readonly PaymentsEvent[]
  close: () => Promise<void>
}

const patienceMs = 20_000

export const resourceIdOf = (event: PaymentsEvent): string | undefined => {
  const { data } = event
  return typeof data === 'object' && data !== null && 'id' in data && typeof data.id === 'string' ? data.id : undefined
}

/** Follows the notification stream until it is closed. Events that arrive before they are waited for are kept. */
export const followEvents = async (client: Payments): Promise<Following> => {
  const stop = new AbortController()
  const received: PaymentsEvent[] = []
  const opened = Promise.withResolvers<void>()
  const ended = (async () => {
    for await (const event of client.events({ signal: stop.signal, onOpen: opened.resolve })) {
      if (event.id !== null) received.push(event)
    }
  })()
  ended.catch(opened.reject)
  await opened.promise

  return {
    received: () => received,
    close: () => {
      stop.abort()
      return ended
    },
    waitFor: async (type, resourceId) => {
      for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await wait(20)) {
        const event = received.find(
          (each) => each.type === type && (resourceId === undefined || resourceIdOf(each) === resourceId),
        )
        if (event) return event
      }
      const types = received.map((event) => event.type).join(', ')
      throw new Error(`the stream did not have "${type}" within ${patienceMs / 1000} s; it had: ${types || 'nothing'}`)
    },
  }
}
