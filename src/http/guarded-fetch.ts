import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Clock, secondsAfter } from '../lib/clock.ts'
import { createSlots } from '../lib/slots.ts'

/** In every Azure network this unicast address is the machine's host, which hands out its certificates. */
const cloudHost = '168.63.129.16'

/**
 * A public address is in none of the registries' special ranges (private, loopback, link-local, mapped …), and in IPv6 it is
 * global unicast.
 */
export const isPublicAddress = (text: string): boolean => {
  const address = ipaddr.parse(text)
  if (address.toString() === cloudHost) return false
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || (address.parts[0] ?? 0) >> 13 === 1)
}

type Address = { address: string; family: number }
type ResolveHost = (hostname: string) => Promise<Address[]>

type ResolverOptions = {
  clock: Clock
  deadlineMs: number
  /** Each is `address` or `address:port`. Default: the system's name servers. */
  servers: readonly string[]
}

const failureSeconds = 60
const maxFailures = 1_000
const loopback: Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

const addresses = async (answer: Promise<string[]>, family: number): Promise<Address[]> =>
  (await answer.catch(() => [])).map((address) => ({ address, family }))

/**
 * Resolves names that strangers make us look up. `dns.lookup` occupies a thread of the pool that files and hashing share: a dozen
 * names without an answer stopped sign-ins and payouts. A failed name is not looked up again for a while. The result is empty if
 * no address was found in time.
 */
export const createHostResolver = ({ clock, deadlineMs, servers }: ResolverOptions): ResolveHost => {
  const failures = new Map<string, Date>()

  const lookUp = async (hostname: string): Promise<Address[]> => {
    const resolver = new Resolver({ timeout: deadlineMs, tries: 1 })
    if (servers.length > 0) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), deadlineMs)
    try {
      const [four, six] = await Promise.all([
        addresses(resolver.resolve4(hostname), 4),
        addresses(resolver.resolve6(hostname), 6),
      ])
      return [...four, ...six]
    } finally {
      clearTimeout(timer)
    }
  }
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return loopback
    const until = failures.get(hostname)
    if (until && until > clock.now()) return []
    failures.delete(hostname)
    const resolved = await lookUp(hostname)
    if (resolved.length === 0) {
      if (failures.size >= maxFailures) failures.clear()
      failures.set(hostname, secondsAfter(clock.now(), failureSeconds))
    }
    return resolved
  }
}

type GuardedRequest = {
  /** Default: the request is a GET. */
  post?: { headers: Readonly<Record<string, string>>; body: Buffer }
  accept?: string
  maxBytes: number
  allows: (address: string) => boolean
}

type GuardedAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

export type GuardedFetch = (url: URL, request: GuardedRequest) => Promise<GuardedAnswer>

type Guards = { timeoutMs: number; resolve: ResolveHost }

/** Its message reveals nothing about an address. With a cause, the address was not asked: it may be fetched later. */
export class FetchError extends Error {}

/** Every address must be allowed: a name with both a public and a private address is suspicious. */
const checkedAddresses = async (hostname: string, resolve: ResolveHost, allows: GuardedRequest['allows']): Promise<Address[]> => {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(hostname) : [{ address: literal, family }]
  if (addresses.length === 0 || !addresses.every(({ address }) => allows(address))) throw new FetchError('could not be fetched')
  return addresses
}

/** The connection uses the addresses that were checked. A redirect is an answer like any other. Size and time are limited. */
export const guardedFetch = async (url: URL, { post, accept, ...guards }: GuardedRequest & Guards): Promise<GuardedAnswer> => {
  const addresses = await checkedAddresses(url.hostname, guards.resolve, guards.allows)
  const [first] = addresses
  const signal = AbortSignal.timeout(guards.timeoutMs)
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    agent: false,
    method: post ? 'POST' : 'GET',
    headers: { ...(accept !== undefined && { accept }), 'user-agent': 'payments-service', ...post?.headers },
    signal,
    lookup: (_hostname, { all }, done) => (all ? done(null, addresses) : done(null, first?.address ?? '', first?.family)),
  })
  // An error after the answer has begun is reported by reading the answer.
  request.on('error', () => undefined)
  try {
    // An answer that only changes the protocol (101) is neither a response nor an error: the signal ends the wait.
    const [response] = (await once(request.end(post?.body), 'response', { signal })) as [IncomingMessage]
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > guards.maxBytes) throw new FetchError(`is larger than ${guards.maxBytes} bytes`)
      chunks.push(chunk)
    }
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
  } catch (error) {
    throw error instanceof FetchError ? error : new FetchError('could not be fetched')
  } finally {
    request.destroy()
  }
}

/** A slow address occupies one of few slots, no longer than the timeout. */
export const createGuardedFetch = (guards: Guards): GuardedFetch => {
  const full = () => new FetchError('cannot be fetched now: too many are under way', { cause: 'no slot is free' })
  const slots = createSlots({ size: 16, waiting: 16, full })
  return (url, request) => slots(() => guardedFetch(url, { ...guards, ...request }))
}
