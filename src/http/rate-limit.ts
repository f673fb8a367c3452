import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { outerRequestOf } from './internal-call.ts'

/** Counts an IPv6 address by its /64, of which a customer has all addresses, and a mapped IPv4 address as the IPv4 address. */
export const networkOf = (text: string): string => {
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

type LimitCounter = { name: string; max: number }

type OnRedis = (up: boolean) => void
/** How long a request waits for Redis before this process counts it locally. */
const answerTimeoutMs = 100
/** A connection that is silent for this time is closed. No request waits for the next connection. */
const silenceTimeoutMs = 1_000

/** With Redis, all processes share their counts. While Redis is unavailable, each process enforces the limits by itself. */
const createCounter = async (app: App, redisUrl: string | undefined, onRedis: OnRedis) => {
  // Points are unlimited, because each name has its own limit.
  const settings = { points: Number.MAX_SAFE_INTEGER, duration: 60, keyPrefix: 'rate' }
  const own = new RateLimiterMemory(settings)
  if (redisUrl === undefined) return own
  const { Redis } = await import('ioredis')
  const redis = new Redis(redisUrl, {
    connectTimeout: silenceTimeoutMs,
    commandTimeout: answerTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
  })
  onRedis(false)
  redis.on('ready', () => onRedis(true)).on('close', () => onRedis(false))
  redis.on('error', (error) => app.log.warn({ error: error.message }, 'redis is unreachable'))
  app.addHook('onClose', async () => redis.disconnect())
  return new RateLimiterRedis({ ...settings, storeClient: redis, insuranceLimiter: own })
}

/** How many times the limit of one root grant all grants of an account together may use. */
const rootsPerAccount = 3

/** Counts by the root of the lineage, so that a key gains nothing by creating keys and agents cannot use up a person's limit. */
const countersOf = (caller: Principal, max: number): LimitCounter[] => {
  const account = caller.accountId
  const [root] = caller.grant?.lineage ?? []
  if (root === undefined) return [{ name: `person:${account}`, max }]
  return [
    { name: `grant:${account}:${root}`, max },
    { name: `account:${account}`, max: rootsPerAccount * max },
  ]
}

export const createRateLimits = async (app: App, config: Config, onRedis: OnRedis) => {
  const { RATE_LIMIT_ENABLED: enabled, REDIS_URL: redisUrl } = config
  const counter = await createCounter(app, enabled ? redisUrl : undefined, onRedis)
  const { rateLimitPerMinute: perPrincipal, rateLimitPublicPerMinute: perAddress } = config
  const addressCounter = (kind: string, { ip }: FastifyRequest, max: number) => ({ name: `${kind}:${networkOf(ip)}`, max })
  const general = (request: FastifyRequest): LimitCounter[] =>
    request.caller ? countersOf(request.caller, perPrincipal) : [addressCounter('address', request, perPrincipal)]
  const strict = (request: FastifyRequest): LimitCounter[] => [
    addressCounter('credentials', request, perAddress),
    // Also counts by account, so that a signed-in caller cannot enter more device codes by using many addresses.
    ...(request.caller ? [{ name: `credentials:${request.caller.accountId}`, max: perAddress }] : []),
  ]

  /** If one limit refuses, the later limits are not charged. The headers describe the limit closest to exhaustion. */
  const apply = async (counters: readonly LimitCounter[], reply: FastifyReply, cost: number): Promise<void> => {
    if (!enabled) return
    let nearest: { max: number; remaining: number; seconds: number } | undefined
    for (const { name, max } of counters) {
      const { consumedPoints, msBeforeNext } = await counter.consume(name, cost)
      const remaining = max - consumedPoints
      if (!nearest || remaining < nearest.remaining) nearest = { max, remaining, seconds: Math.ceil(msBeforeNext / 1000) }
      if (remaining < 0) break
    }
    if (!nearest) return
    const { max, remaining, seconds } = nearest
    reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': Math.max(0, remaining), 'ratelimit-reset': seconds })
    if (remaining < 0) throw new Refusal('rate_limited', { headers: { 'retry-after': String(Math.max(1, seconds)) } })
  }
  return {
    /** Throws 429, like the next two functions. */
    countRequest: (request: FastifyRequest, reply: FastifyReply) =>
      apply((request.routeOptions.config.credentialIssuing ? strict : general)(request), reply, 1),
    /** Counts a rejected credential against its IP address. */
    countRefused: (request: FastifyRequest, reply: FastifyReply) =>
      apply([addressCounter('refused', request, perAddress)], reply, 1),
    /** For a request that contains several: counts the ones beyond the first, which `countRequest` already counted. */
    countMore: async (request: FastifyRequest, reply: FastifyReply, cost: number) => {
      if (cost > 0) await apply(general(request), reply, cost)
    },
  }
}

export type RateLimits = Awaited<ReturnType<typeof createRateLimits>>

export const registerRateLimits = (app: App, limits: RateLimits): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const { internal, unlimited } = request.routeOptions.config
    // Internal calls were counted when their outer request arrived.
    if (internal || unlimited || outerRequestOf(request.raw)) return done()
    limits.countRequest(request, reply).then(() => done(), done)
  })
}
