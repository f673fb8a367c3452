import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Clock, secondsAfter } from '../lib/clock.ts'
import { createSlots } from '../lib/slots.ts'

/** In every Azure network, this public address is the host machine, which issues the machine's certificates. */
const cloudHost = '168.63.129.16'

/** Whether an address is outside all special-purpose ranges (private, link-local, mapped …) and, for IPv6, global unicast. */
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
  /** Each server is `address` or `address:port`. Default: the system's name servers. */
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
 * Resolves host names that strangers supply. `dns.lookup` uses the thread pool that files and hashing share: a dozen names
 * without a response blocked sign-ins and payouts. A failed name is not looked up again for a while. Empty if no address was
 * found in time.
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
  /** Default: a GET request. */
  post?: { headers: Readonly<Record<string, string>>; body: Buffer }
  accept?: string
  maxBytes: number
  allows: (address: string) => boolean
}

type GuardedAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

export type GuardedFetch = (url: URL, request: GuardedRequest) => Promise<GuardedAnswer>

type Guards = { timeoutMs: number; resolve: ResolveHost }

/** The message reveals nothing about an address. If it has a cause, no request was sent, so a later fetch may succeed. */
export class FetchError extends Error {}

/** Every address must be allowed, because a name with both public and private addresses is suspicious. */
const checkedAddresses = async (hostname: string, resolve: ResolveHost, allows: GuardedRequest['allows']): Promise<Address[]> => {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(hostname) : [{ address: literal, family }]
  if (addresses.length === 0 || !addresses.every(({ address }) => allows(address))) throw new FetchError('could not be fetched')
  return addresses
}

/** Connects only to the checked addresses, returns redirects without following them, and limits size and time. */
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
  // Reading the response reports errors that occur after it has begun.
  request.on('error', () => undefined)
  try {
    // A 101 (switching protocols) emits neither `response` nor `error`, so the signal ends the wait.
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

/** Limits concurrent fetches: a slow address occupies one of a few slots, until the timeout at most. */
export const createGuardedFetch = (guards: Guards): GuardedFetch => {
  const full = () => new FetchError('cannot be fetched now: too many are under way', { cause: 'no slot is free' })
  const slots = createSlots({ size: 16, waiting: 16, full })
  return (url, request) => slots(() => guardedFetch(url, { ...guards, ...request }))
}
