import type { FastifyReply } from 'fastify'
import type { Config } from '../../../config.ts'
import { sessionCookie } from '../../../http/authenticate.ts'
import type { NewSession } from '../sessions/service.ts'

const attributes = (config: Config) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: config.NODE_ENV === 'production' || config.publicUrl.startsWith('https://'),
  ...(config.SESSION_COOKIE_DOMAIN !== undefined && { domain: config.SESSION_COOKIE_DOMAIN }),
})

/** By Max-Age: a browser whose clock is wrong could treat a point in time as long past. */
export const setSessionCookie = (reply: FastifyReply, config: Config, session: NewSession): void => {
  reply.setCookie(sessionCookie, session.token, { ...attributes(config), maxAge: config.SESSION_TTL_DAYS * 86_400 })
}

export const clearSessionCookie = (reply: FastifyReply, config: Config): void => {
  reply.clearCookie(sessionCookie, attributes(config))
}
