import rateLimit from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Redis } from 'ioredis'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

export type RateLimitOptions = { enabled: boolean; perPrincipal: number; perAddress: number; redisUrl: string | undefined }

export type RateLimits = {
  /** Counts a refused credential against the address it came from; throws 429 when there were too many. */
  countRefused: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

const windowMs = 60_000

/** A limit for each principal, and a stricter one for each address where credentials are given out or can be guessed. */
export const registerRateLimits = async (app: App, options: RateLimitOptions): Promise<RateLimits> => {
  if (!options.enabled) return { countRefused: async () => undefined }
  const redis =
    options.redisUrl === undefined
      ? undefined
      : new Redis(options.redisUrl, { connectTimeout: 1000, maxRetriesPerRequest: 1, enableOfflineQueue: false })
  if (redis) {
    redis.on('error', (error) => app.log.warn({ error: error.message }, 'redis is not reachable'))
    app.addHook('onClose', async () => redis.disconnect())
  }
  await app.register(rateLimit, { global: false, ...(redis && { redis, nameSpace: 'rate:' }) })
  const keyOf = (request: FastifyRequest) =>
    request.caller ? `p:${request.caller.accountId}:${request.caller.grant?.id ?? ''}` : `a:${request.ip}`
  const general = app.createRateLimit({ max: options.perPrincipal, timeWindow: windowMs, keyGenerator: keyOf })
  const strict = app.createRateLimit({
    max: options.perAddress,
    timeWindow: windowMs,
    keyGenerator: (request) => `c:${request.ip}`,
  })
  const refused = app.createRateLimit({
    max: options.perAddress,
    timeWindow: windowMs,
    keyGenerator: (request) => `r:${request.ip}`,
  })

  const apply = async (limit: typeof general, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const state = await limit(request)
    if (state.isAllowed) return
    reply.headers({ 'ratelimit-limit': state.max, 'ratelimit-remaining': state.remaining, 'ratelimit-reset': state.ttlInSeconds })
    if (state.isExceeded)
      throw new Refusal('rate_limited', { headers: { 'retry-after': String(Math.max(1, state.ttlInSeconds)) } })
  }
  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    if (config.internal || config.unlimited) return
    await apply(config.credentialIssuing ? strict : general, request, reply)
  })
  return { countRefused: (request, reply) => apply(refused, request, reply) }
}
