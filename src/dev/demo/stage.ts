import { isDeepStrictEqual } from 'node:util'
import { Payments } from '#client'
import { isLoopbackUrl } from '../../lib/loopback.ts'
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
/** The service that scenes are played on. */
export const url = PUBLIC_URL || `http://localhost:${PORT || 3000}`

let steps = 0
export const step = (title: string): void => {
  steps += 1
  console.log(`\n${String(steps).padStart(2)}  ${title}`)
}
export const print = (text: string): void => console.log(`    ${text}`)
export const money = (minor: string | number): string => `KES ${(Number(minor) / 100).toFixed(2)}`

export const expectReady = async (): Promise<void> => {
  if (!isLoopbackUrl(url) || RAILS !== 'sandbox')
    throw new Error(`it tops up and pays: it is for a service with simulated rails on this machine, not for ${url}`)
  const ready = await new Payments({ baseUrl: url }).call('get', '/readyz', { retries: 0 }).catch(() => undefined)
  if (!ready) throw new Error(`nothing is ready at ${url}: run "npm start" first, in another terminal`)
  console.log(`The payments service at ${url}`)
}
