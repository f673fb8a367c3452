import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { actingFor } from './internal-call.ts'

/**
 * One customer has a whole IPv6 /64 and can use another of its addresses for each request, so the network is counted. IPv4
 * written as IPv6 is the same address.
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

type LimitedName = { name: string; max: number }

type OnRedis = (up: boolean) => void
/** A request waits this long for Redis before this process counts it. */
const answerTimeoutMs = 100
/** A connection that is silent for this time is closed; no request waits for the next connection. */
const silenceTimeoutMs = 1_000

/** With a Redis all processes count together. While it is unavailable each counts for itself, so that the limits still apply. */
const createCounter = async (app: App, redisUrl: string | undefined, onRedis: OnRedis) => {
  // The counter only counts: each name has a limit of its own.
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

/** All grants of an account may send this many times what one root may. */
const rootsPerAccount = 3

/** Counted by the root of the lineage: a key gains nothing by making keys. No agent can use up a person's allowance. */
const namesOf = (caller: Principal, max: number): LimitedName[] => {
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
  const ofAddress = (kind: string, { ip }: FastifyRequest, max: number) => ({ name: `${kind}:${networkOf(ip)}`, max })
  const general = (request: FastifyRequest): LimitedName[] =>
    request.caller ? namesOf(request.caller, perPrincipal) : [ofAddress('address', request, perPrincipal)]
  const strict = (request: FastifyRequest): LimitedName[] => [
    ofAddress('credentials', request, perAddress),
    // Many addresses do not help a signed-in caller who enters device codes: the account is counted too.
    ...(request.caller ? [{ name: `credentials:${request.caller.accountId}`, max: perAddress }] : []),
  ]

  /** A limit that refuses uses up nothing of the next limit. The headers describe the nearest one. */
  const apply = async (names: readonly LimitedName[], reply: FastifyReply, cost: number): Promise<void> => {
    if (!enabled) return
    let nearest: { max: number; remaining: number; seconds: number } | undefined
    for (const { name, max } of names) {
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
    /** Throws 429, like the other two. */
    countRequest: (request: FastifyRequest, reply: FastifyReply) =>
      apply((request.routeOptions.config.credentialIssuing ? strict : general)(request), reply, 1),
    /** Counts a refused credential for the address that it came from. */
    countRefused: (request: FastifyRequest, reply: FastifyReply) => apply([ofAddress('refused', request, perAddress)], reply, 1),
    /** For a request that contains several: counts those beyond the one that `countRequest` counted. */
    countMore: async (request: FastifyRequest, reply: FastifyReply, cost: number) => {
      if (cost > 0) await apply(general(request), reply, cost)
    },
  }
}

export type RateLimits = Awaited<ReturnType<typeof createRateLimits>>

export const registerRateLimits = (app: App, limits: RateLimits): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const { internal, unlimited } = request.routeOptions.config
    // The service's own call was counted when the request came in from outside.
    if (internal || unlimited || actingFor(request.raw)) return done()
    limits.countRequest(request, reply).then(() => done(), done)
  })
}
