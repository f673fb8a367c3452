import type { FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../auth/principal.ts'

/** Where a request came from. `request.ip` uses forwarded headers only from a configured proxy. */
export const originOf = (request: FastifyRequest): RequestOrigin => ({
  ip: request.ip,
  userAgent: request.headers['user-agent']?.slice(0, 300) ?? null,
  requestId: request.id,
})

/** The proxies whose forwarded headers are trusted; none by default. */
export const trustedProxies = (configured: readonly string[] | undefined): string[] | false =>
  configured === undefined ? false : [...configured]
