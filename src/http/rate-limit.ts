import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import ipaddr from 'ipaddr.js'
import type { Principal } from '../auth/principal.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { actingFor } from './internal-call.ts'

/**
 * The address whose allowance is used. One customer has a whole IPv6 /64 and can take another address in it for each request, so the
 * network is counted. IPv4 written as IPv6 is the same IPv4 address.
 */
export const networkOf = (text: string): string => {
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** How often a name was counted in its minute, and how long that minute lasts. */
type Counted = { used: number; ttlMs: number }

/**
 * Counts `cost` for each name in turn, and stops at the first one that is above its limit: what is refused uses up nothing further down. Returns
 * the counts of the names that were counted.
 */
type Counters = (names: readonly LimitedName[], cost: number) => Promise<Counted[]>

type LimitedName = { name: string; max: number }

const windowMs = 60_000
/** Names whose minute is over are forgotten when there are this many more than at the last time. */
const sweepEvery = 5_000

/** The counters of this process. */
const ownCounters = (now: () => number = () => performance.now()): Counters => {
  const counts = new Map<string, { used: number; endsAt: number }>()
  let sweepAt = sweepEvery
  const add = (name: string, cost: number): Counted => {
    const at = now()
    const known = counts.get(name)
    const count = known && known.endsAt > at ? known : { used: 0, endsAt: at + windowMs }
    count.used += cost
    if (count !== known) counts.set(name, count)
    if (counts.size >= sweepAt) {
      for (const [other, { endsAt }] of counts) if (endsAt <= at) counts.delete(other)
      sweepAt = counts.size + sweepEvery
    }
    return { used: count.used, ttlMs: count.endsAt - at }
  }
  return async (names, cost) => {
    const counted: Counted[] = []
    for (const { name, max } of names) {
      const count = add(name, cost)
      counted.push(count)
      if (count.used > max) break
    }
    return counted
  }
}

// One call for all names, as each waits for an answer. ARGV: the cost, the window, then the limit of each name.
const script = `
local counted = {}
for i, key in ipairs(KEYS) do
  local used = redis.call('INCRBY', key, ARGV[1])
  local ttl = redis.call('PTTL', key)
  if ttl < 0 then
    redis.call('PEXPIRE', key, ARGV[2])
    ttl = tonumber(ARGV[2])
  end
  counted[#counted + 1] = used
  counted[#counted + 1] = ttl
  if used > tonumber(ARGV[i + 2]) then break end
end
return counted`

const isCount = (value: unknown): value is number => typeof value === 'number'

/** The counters of all processes, kept by Redis. Names that are counted together must have the same part in braces: a cluster keeps them together. */
const sharedCounters = (redis: Redis): Counters => {
  const command = 'countRequests'
  redis.defineCommand(command, { lua: script })
  const run: unknown = Reflect.get(redis, command)
  if (typeof run !== 'function') throw new Error('a command that was defined is missing')
  return async (names, cost) => {
    const keys = names.map(({ name }) => `rate:${name}`)
    const answer: unknown = await run.call(redis, keys.length, ...keys, cost, windowMs, ...names.map(({ max }) => max))
    if (!Array.isArray(answer) || !answer.every(isCount)) throw new Error('Redis answered a count that is none')
    return names.flatMap((_, index) => {
      const [used, ttlMs] = answer.slice(2 * index, 2 * index + 2)
      return used === undefined || ttlMs === undefined ? [] : [{ used, ttlMs }]
    })
  }
}

type RateLimitOptions = {
  enabled: boolean
  perPrincipal: number
  perAddress: number
  redisUrl: string | undefined
  onRedis?: (up: boolean) => void
}

type Count = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type RateLimits = {
  /** Counts a request for its principal, or for its address; throws 429 when there were too many. */
  countRequest: Count
  /** Counts a refused credential for the address that it came from; throws 429 when there were too many. */
  countRefused: Count
  /** For a request that is several: counts the ones that `countRequest` did not know of. Throws 429. */
  countMore: (request: FastifyRequest, reply: FastifyReply, cost: number) => Promise<void>
}

/** How long a request waits for Redis before it is counted here. */
const answerTimeoutMs = 100
/** A connection without answers is closed; until there is another one no request waits for it. */
const silenceTimeoutMs = 1_000

const connectRedis = async (app: App, url: string, onRedis: RateLimitOptions['onRedis']): Promise<Redis> => {
  const { Redis: Client } = await import('ioredis')
  const redis = new Client(url, {
    connectTimeout: silenceTimeoutMs,
    commandTimeout: answerTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
  })
  onRedis?.(false)
  redis.on('ready', () => onRedis?.(true)).on('close', () => onRedis?.(false))
  redis.on('error', (error) => app.log.warn({ error: error.message }, 'redis is not reachable'))
  app.addHook('onClose', async () => redis.disconnect())
  return redis
}

/** With a Redis all processes count together; while it is away each counts for itself, so that the limits still apply. */
const createCounters = async (app: App, { redisUrl, onRedis }: RateLimitOptions): Promise<Counters> => {
  const own = ownCounters()
  if (redisUrl === undefined) return own
  const shared = sharedCounters(await connectRedis(app, redisUrl, onRedis))
  return (names, cost) => shared(names, cost).catch(() => own(names, cost))
}

/** All delegated requests of an account may be this many times those of one root grant. */
const rootsPerAccount = 3

/**
 * By the root of the caller's lineage, so that a key gains nothing by making keys; and by account, over all of its roots. A person has an
 * allowance of their own: no agent can use it up.
 */
const namesOf = (caller: Principal, max: number): LimitedName[] => {
  // In braces: what a Redis cluster keeps together.
  const account = `{${caller.accountId}}`
  const [root] = caller.grant?.lineage ?? []
  if (root === undefined) return [{ name: `person:${account}`, max }]
  return [
    { name: `grant:${account}:${root}`, max },
    { name: `account:${account}`, max: rootsPerAccount * max },
  ]
}

/** A limit for each principal, and a stricter one for each address where credentials are issued or can be guessed. */
export const createRateLimits = async (app: App, options: RateLimitOptions): Promise<RateLimits> => {
  const nothing = async () => undefined
  if (!options.enabled) return { countRequest: nothing, countRefused: nothing, countMore: nothing }
  const count = await createCounters(app, options)
  const ofAddress = (kind: string, { ip }: FastifyRequest, max: number) => ({ name: `${kind}:${networkOf(ip)}`, max })
  const general = (request: FastifyRequest): LimitedName[] =>
    request.caller ? namesOf(request.caller, options.perPrincipal) : [ofAddress('address', request, options.perPrincipal)]
  const strict = (request: FastifyRequest): LimitedName[] => [
    ofAddress('credentials', request, options.perAddress),
    // A signed-in caller cannot avoid this limit with many addresses: an account enters the codes of devices.
    ...(request.caller ? [{ name: `credentials:{${request.caller.accountId}}`, max: options.perAddress }] : []),
  ]

  /** The answer's headers tell of the limit that is nearest. */
  const apply = async (names: readonly LimitedName[], reply: FastifyReply, cost: number): Promise<void> => {
    const counted = await count(names, cost)
    const states = counted.map(({ used, ttlMs }, index) => {
      const max = names[index]?.max ?? 0
      return { max, remaining: Math.max(0, max - used), seconds: Math.ceil(ttlMs / 1000), exceeded: used > max }
    })
    const nearest = states.reduce((tightest, state) => (state.remaining < tightest.remaining ? state : tightest))
    const refused = states.find(({ exceeded }) => exceeded)
    const { max, remaining, seconds } = refused ?? nearest
    reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': seconds })
    if (refused) throw new Refusal('rate_limited', { headers: { 'retry-after': String(Math.max(1, seconds)) } })
  }
  return {
    countRequest: (request, reply) =>
      apply((request.routeOptions.config.credentialIssuing ? strict : general)(request), reply, 1),
    countRefused: (request, reply) => apply([ofAddress('refused', request, options.perAddress)], reply, 1),
    countMore: (request, reply, cost) => (cost > 0 ? apply(general(request), reply, cost) : Promise.resolve()),
  }
}

export const registerRateLimits = (app: App, limits: RateLimits): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const { internal, unlimited } = request.routeOptions.config
    // The service's own call was counted when the request came in from outside.
    if (internal || unlimited || actingFor(request.raw)) return done()
    limits.countRequest(request, reply).then(() => done(), done)
  })
}
