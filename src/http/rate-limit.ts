import rateLimit, { type CreateRateLimitOptions } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import { Refusal } from '../lib/errors.ts'
import { networkOf } from './address.ts'
import type { App } from './app-type.ts'
import { actingFor } from './internal-call.ts'

export type RateLimitOptions = { enabled: boolean; perPrincipal: number; perAddress: number; redisUrl: string | undefined }

type Count = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type RateLimits = {
  /** Counts a request for its principal, or for its address; throws 429 when there were too many. */
  countRequest: Count
  /** Counts a refused credential for the address that it came from; throws 429 when there were too many. */
  countRefused: Count
}

type Limit = ReturnType<FastifyInstance['createRateLimit']>
type CreateLimit = (options: CreateRateLimitOptions) => Limit

const windowMs = 60_000

/** How long a request waits for Redis before it is counted here. */
const answerTimeoutMs = 100
/** A connection without answers is closed; until there is another one no request waits for it. */
const silenceTimeoutMs = 1_000

const connectRedis = async (app: App, url: string): Promise<Redis> => {
  const { Redis: Client } = await import('ioredis')
  const redis = new Client(url, {
    connectTimeout: silenceTimeoutMs,
    commandTimeout: answerTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
  })
  redis.on('error', (error) => app.log.warn({ error: error.message }, 'redis is not reachable'))
  app.addHook('onClose', async () => redis.disconnect())
  return redis
}

/** A scope of its own: the plugin keeps one store for each scope in which it is registered. */
const countersIn = async (app: App, redis?: Redis): Promise<CreateLimit> => {
  const registered = Promise.withResolvers<CreateLimit>()
  await app.register(async (scope) => {
    await scope.register(rateLimit, { global: false, ...(redis && { redis, nameSpace: 'rate:' }) })
    registered.resolve((options) => scope.createRateLimit(options))
  })
  return registered.promise
}

/** With a Redis all processes count together; while it is away each counts for itself, so that the limits still apply. */
const createCounters = async (app: App, redisUrl: string | undefined): Promise<CreateLimit> => {
  const own = await countersIn(app)
  if (redisUrl === undefined) return own
  const shared = await countersIn(app, await connectRedis(app, redisUrl))
  return (options) => {
    const [together, alone] = [shared(options), own(options)]
    return (request) => together(request).catch(() => alone(request))
  }
}

/** A limit for each principal, and a stricter one for each address where credentials are issued or can be guessed. */
export const createRateLimits = async (app: App, options: RateLimitOptions): Promise<RateLimits> => {
  if (!options.enabled) return { countRequest: async () => undefined, countRefused: async () => undefined }
  const createLimit = await createCounters(app, options.redisUrl)
  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string) =>
    createLimit({ max, timeWindow: windowMs, keyGenerator })
  const general = limit(options.perPrincipal, ({ caller, ip }) =>
    caller ? `p:${caller.accountId}:${caller.grant?.id ?? ''}` : `a:${networkOf(ip)}`,
  )
  const strict = limit(options.perAddress, ({ ip }) => `c:${networkOf(ip)}`)
  // A signed-in caller cannot avoid this limit with many addresses: an account enters the codes of devices.
  const strictOfAccount = limit(options.perAddress, ({ caller }) => `ca:${caller?.accountId ?? ''}`)
  const refused = limit(options.perAddress, ({ ip }) => `r:${networkOf(ip)}`)

  const apply = async (count: Limit, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const state = await count(request)
    if (state.isAllowed) return
    reply.headers({ 'ratelimit-limit': state.max, 'ratelimit-remaining': state.remaining, 'ratelimit-reset': state.ttlInSeconds })
    if (state.isExceeded)
      throw new Refusal('rate_limited', { headers: { 'retry-after': String(Math.max(1, state.ttlInSeconds)) } })
  }
  return {
    countRequest: async (request, reply) => {
      const { credentialIssuing } = request.routeOptions.config
      await apply(credentialIssuing ? strict : general, request, reply)
      if (credentialIssuing && request.caller) await apply(strictOfAccount, request, reply)
    },
    countRefused: (request, reply) => apply(refused, request, reply),
  }
}

export const registerRateLimits = (app: App, limits: RateLimits): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const { internal, unlimited } = request.routeOptions.config
    // The service's own call was counted when the request came in from outside.
    if (internal || unlimited || actingFor()) return done()
    limits.countRequest(request, reply).then(() => done(), done)
  })
}
