import { z } from 'zod'
import { type DepositRail, depositRails } from '../../lib/rail-names.ts'
import type { Journal } from './journal.ts'
import { keepDocument } from './store.ts'

const Address = z.object({
  confirmation: z.string(),
  validation: z.string().nullable(),
  unanswered: z.enum(['Completed', 'Cancelled']),
})
const Addresses = z.partialRecord(z.enum(depositRails), Address)

/** Clients' callback URLs for deposit notifications. */
export const createAddresses = (folder?: string) => {
  const kept = keepDocument(folder, 'addresses.json', Addresses, {})
  return {
    of: (rail: DepositRail) => kept.read()[rail],
    register: (rail: DepositRail, address: z.output<typeof Address>): void => kept.write({ ...kept.read(), [rail]: address }),
  }
}

export type Deliver = (url: string, body: unknown) => Promise<void>

const timeoutMs = 10_000

export const postJson = (url: string, body: unknown, withinMs: number): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(withinMs),
  })

/** Sends a callback once. Like the provider, it never retries, so a receiver that is down misses the callback. */
export const createDeliver =
  (journal: Journal): Deliver =>
  async (url, body) => {
    try {
      const response = await postJson(url, body, timeoutMs)
      await response.body?.cancel()
      journal.add('sent', { answer: response.status })
    } catch {
      journal.add('sent', { answer: 'no listener' })
    }
  }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The guess of an attacker who knows the URL's format but not the secret: replaces the longest segment except attempt ids. */
export const forgedUrl = (url: string): string => {
  const forged = new URL(url)
  const parts = forged.pathname.split('/')
  const secret = parts
    .filter((part) => !uuid.test(part))
    .reduce((longest, part) => (part.length >= longest.length ? part : longest), '')
  const guess = secret.replace(/./g, (letter) => (letter === 'a' ? 'b' : 'a'))
  forged.pathname = parts.map((part) => (part === secret ? guess : part)).join('/')
  return forged.href
}
