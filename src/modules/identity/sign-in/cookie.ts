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
const cookieName = (config: Config, name: string): string => (isSecure(config) ? `__Host-${name}` : name)

const tokenPattern = /^[A-Za-z0-9_-]{43}$/

const readToken = (request: FastifyRequest, config: Config, name: string): string | null => {
  const value = request.cookies[cookieName(config, name)]
  return value !== undefined && tokenPattern.test(value) ? value : null
}

const flowCookieName = 'service_flow'
/** Identifies a browser in which a person has signed in before. */
const browserCookieName = 'service_browser'
/** The longest lifetime that browsers grant a cookie. */
const browserCookieSeconds = 400 * 86_400

export const readFlowCookie = (request: FastifyRequest, config: Config): string | null =>
  readToken(request, config, flowCookieName)

/** Keeps the browser's cookie, because flows of other tabs may still return. */
export const renewFlowCookie = (request: FastifyRequest, reply: FastifyReply, config: Config): string => {
  const flowCookie = readFlowCookie(request, config) ?? newOpaqueToken()
  reply.setCookie(cookieName(config, flowCookieName), flowCookie, { ...attributes(config), maxAge: flowTtlSeconds })
  return flowCookie
}

/** The cookie that identifies the browser, or a new one. It is set together with the session cookie. */
export const readBrowserCookie = (request: FastifyRequest, config: Config): string =>
  readToken(request, config, browserCookieName) ?? newOpaqueToken()

/** Uses Max-Age, because a browser with a wrong clock could treat a point in time as past. */
export const setSessionCookie = (
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  { session, browserCookie }: { session: NewSession; browserCookie: string },
): void => {
  // First, because a browser may store a host's own cookie and one of the host's domain in one place.
  clearOtherSessionCookies(request, reply, config)
  reply.setCookie(sessionCookie, session.token, { ...sessionAttributes(config), maxAge: config.SESSION_TTL_DAYS * 86_400 })
  reply.setCookie(cookieName(config, browserCookieName), browserCookie, { ...attributes(config), maxAge: browserCookieSeconds })
}
