import type { FastifyReply, FastifyRequest } from 'fastify'
import { newOpaqueToken } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { sessionCookie } from '../../../http/authenticate.ts'
import type { NewSession } from '../sessions/service.ts'
import { flowTtlSeconds } from './flow-rows.ts'

const isSecure = (config: Config): boolean => config.NODE_ENV === 'production' || config.publicUrl.startsWith('https://')

const attributes = (config: Config) => ({ path: '/', httpOnly: true, sameSite: 'lax' as const, secure: isSecure(config) })

const sessionAttributes = (config: Config, domain = config.SESSION_COOKIE_DOMAIN) => ({
  ...attributes(config),
  ...(domain !== undefined && { domain }),
})

/** Every domain for which a browser accepts a cookie of this host. */
const acceptedDomains = ({ publicUrl }: Config): string[] => {
  const labels = new URL(publicUrl).hostname.split('.')
  return labels.slice(0, -1).map((_, first) => labels.slice(first).join('.'))
}

/**
 * Clears the session cookies that the browser has from before `SESSION_COOKIE_DOMAIN` changed, or from a sibling site: beside
 * them, a new cookie is ignored.
 */
const clearOtherSessionCookies = (request: FastifyRequest, reply: FastifyReply, config: Config): void => {
  if (request.cookies[sessionCookie] === undefined) return
  if (config.SESSION_COOKIE_DOMAIN !== undefined) reply.clearCookie(sessionCookie, attributes(config))
  for (const domain of acceptedDomains(config))
    if (domain !== config.SESSION_COOKIE_DOMAIN) reply.clearCookie(sessionCookie, sessionAttributes(config, domain))
}

export const clearSessionCookie = (request: FastifyRequest, reply: FastifyReply, config: Config): void => {
  clearOtherSessionCookies(request, reply, config)
  reply.clearCookie(sessionCookie, sessionAttributes(config))
}

/** `__Host-`: a sibling domain cannot set this cookie, and so cannot present its own flow as this browser's. */
const nameOf = (config: Config, name: string): string => (isSecure(config) ? `__Host-${name}` : name)

const shape = /^[A-Za-z0-9_-]{43}$/

const readToken = (request: FastifyRequest, config: Config, name: string): string | null => {
  const value = request.cookies[nameOf(config, name)]
  return value !== undefined && shape.test(value) ? value : null
}

const flowCookie = 'service_flow'
/** Identifies a browser in which a person has signed in before. */
const browserCookie = 'service_browser'
/** The longest lifetime that browsers grant a cookie. */
const browserCookieSeconds = 400 * 86_400

export const readBrowser = (request: FastifyRequest, config: Config): string | null => readToken(request, config, flowCookie)

/** Keeps the browser's cookie, because flows of other tabs may still return. */
export const keepFlowCookie = (request: FastifyRequest, reply: FastifyReply, config: Config): string => {
  const browser = readBrowser(request, config) ?? newOpaqueToken()
  reply.setCookie(nameOf(config, flowCookie), browser, { ...attributes(config), maxAge: flowTtlSeconds })
  return browser
}

/** The browser's token, or a new one. It is set together with the session cookie. */
export const browserToken = (request: FastifyRequest, config: Config): string =>
  readToken(request, config, browserCookie) ?? newOpaqueToken()

/** Uses Max-Age, because a browser with a wrong clock could treat a point in time as past. */
export const setSessionCookie = (
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { session, browser }: { session: NewSession; browser: string },
): void => {
  // First, because a browser may store a host's own cookie and one of the host's domain in one place.
  clearOtherSessionCookies(request, reply, config)
  reply.setCookie(sessionCookie, session.token, { ...sessionAttributes(config), maxAge: config.SESSION_TTL_DAYS * 86_400 })
  reply.setCookie(nameOf(config, browserCookie), browser, { ...attributes(config), maxAge: browserCookieSeconds })
}
