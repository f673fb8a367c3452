import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Payments, type PaymentsEvent } from '#client'
import { isLoopbackUrl } from '../../lib/loopback.ts'
import { displayAmount } from '../../lib/money.ts'
import { readEnvironment } from '../../process/environment.ts'

export const expectSame = (name: string, actual: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${name} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`)
}

export const expectThere = <T>(name: string, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw new Error(`${name} should be there and is not`)
  return value
}

const { PUBLIC_URL, PORT, RAILS = 'sandbox' } = readEnvironment()
export const url = PUBLIC_URL || `http://localhost:${PORT || 3000}`

let steps = 0
export const step = (title: string): void => {
  steps += 1
  console.log(`\n${String(steps).padStart(2)}  ${title}`)
}
export const print = (text: string): void => console.log(`    ${text}`)
/** The wallet displays a message, and signs it if the message contains `name`. */
export const agreeTo = (name: string) => (message: string) => {
  for (const line of message.split('\n')) print(`│ ${line}`)
  return message.includes(name)
}
export const money = (minor: string | number): string => displayAmount(BigInt(minor), 'KES')

export const expectReady = async (): Promise<void> => {
  if (!isLoopbackUrl(url) || RAILS !== 'sandbox')
    throw new Error(`the demo moves money: it is for a service with simulated rails on this machine, not for ${url}`)
  const ready = await new Payments({ baseUrl: url }).call('get', '/readyz', { retries: 0 }).catch(() => undefined)
  if (!ready) throw new Error(`no service is ready at ${url}: run "npm start" first, in another terminal`)
  console.log(`The payments service at ${url}`)
}

const timeoutMs = 20_000

export const resourceIdOf = (event: PaymentsEvent): string | undefined => {
  const { data } = event
  return typeof data === 'object' && data !== null && 'id' in data && typeof data.id === 'string' ? data.id : undefined
}

/** Follows the notification stream until it is closed. Stores events that arrive before they are awaited. */
export const followEvents = async (client: Payments) => {
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
    received: (): readonly PaymentsEvent[] => received,
    close: (): Promise<void> => {
      stop.abort()
      return ended
    },
    waitFor: async (type: PaymentsEvent['type'], resourceId?: string): Promise<PaymentsEvent> => {
      for (const giveUpAt = performance.now() + timeoutMs; performance.now() < giveUpAt; await wait(20)) {
        const ofType = received.filter((event) => event.type === type)
        const event = ofType.find((each) => resourceId === undefined || resourceIdOf(each) === resourceId)
        if (event) return event
      }
      const types = received.map((event) => event.type).join(', ')
      throw new Error(`the stream did not deliver "${type}" within ${timeoutMs / 1000} s; it delivered: ${types || 'nothing'}`)
    },
  }
}
