import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { createSlots, NoSlotError } from '../../lib/slots.ts'
import type { Address, ResolveHost } from './resolve-host.ts'

export type GuardedRequest = {
  /** A GET without a body where it is left out. */
  post?: { headers: Readonly<Record<string, string>>; body: Buffer }
  accept?: string
  maxBytes: number
  /** The addresses to which connections are allowed. */
  allows: (address: string) => boolean
}

export type GuardedAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

/** Calls an address that a stranger named. */
export type GuardedFetch = (url: URL, request: GuardedRequest) => Promise<GuardedAnswer>

type Guards = { timeoutMs: number; resolve: ResolveHost }

/** Why there is no answer: a sentence that reveals nothing about what answers at an address. */
export class FetchError extends Error {}

/** Every address of the name must be allowed: a name with both a public and a private address is suspicious. */
const checkedAddresses = async (
  hostname: string,
  { resolve, allows }: Pick<Guards & GuardedRequest, 'resolve' | 'allows'>,
): Promise<Address[]> => {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(hostname) : [{ address: literal, family }]
  if (addresses.length === 0 || !addresses.every(({ address }) => allows(address))) throw new FetchError('could not be fetched')
  return addresses
}

/**
 * The name is resolved once, and the connection uses the addresses that were checked. A redirect is an answer like any other, and is not
 * followed. Size and time are limited.
 */
export const guardedFetch = async (url: URL, { post, accept, ...guards }: GuardedRequest & Guards): Promise<GuardedAnswer> => {
  const addresses = await checkedAddresses(url.hostname, guards)
  const [first] = addresses
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      agent: false,
      method: post ? 'POST' : 'GET',
      headers: { ...(accept !== undefined && { accept }), 'user-agent': 'payments-service', ...post?.headers },
      signal: AbortSignal.timeout(guards.timeoutMs),
      lookup: (_hostname, { all }, done) => (all ? done(null, addresses) : done(null, first?.address ?? '', first?.family)),
    })
    const fail = (why: string) => {
      reject(new FetchError(why))
      request.destroy()
    }
    request.on('error', () => fail('could not be fetched'))
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > guards.maxBytes) return fail(`is larger than ${guards.maxBytes} bytes`)
        chunks.push(chunk)
      })
      response.on('error', () => fail('could not be fetched'))
      response.on('end', () => resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') }))
    })
    request.end(post?.body)
  })
}

/** A few at once, over all callers: an address that answers slowly, or not at all, occupies a slot no longer than the time-out. */
export const createGuardedFetch = (guards: Guards): GuardedFetch => {
  const slots = createSlots({ size: 16, waiting: 16 })
  return (url, request) =>
    slots(() => guardedFetch(url, { ...guards, ...request })).catch((error: unknown) => {
      throw error instanceof NoSlotError
        ? new FetchError('cannot be fetched now: too many are under way', { cause: error })
        : error
    })
}
