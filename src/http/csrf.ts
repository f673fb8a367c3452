import type { FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'

/** Whether a browser's request comes from this site or an allowed origin, according to its headers (Fetch Metadata, else Origin). */
const isFromOwnSite = (request: FastifyRequest, allowedOrigins: readonly string[]): boolean => {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  if (origin !== undefined && allowedOrigins.includes(origin)) return true
  return site === undefined ? origin === undefined : site === 'same-origin' || site === 'none'
}

/** A script of our own page made the request: every browser sends the origin with it, and it is ours. */
export const isRequestOfOwnPage = ({ headers }: FastifyRequest, ownOrigin: string): boolean =>
  headers.origin === ownOrigin && (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin'

/** Our own page sent the browser here. A page of another site cannot cause this, not even with a redirect. */
export const isNavigationFromOwnPage = ({ headers }: FastifyRequest): boolean => headers['sec-fetch-site'] === 'same-origin'

/** Browsers send a cookie also with requests that its owner never made, so an unsafe request with it must come from this site. */
export const registerCsrfGuard = (app: App, ownOrigin: string, allowedOrigins: readonly string[]): void => {
  const allowed = [ownOrigin, ...allowedOrigins]
  app.addHook('onRequest', async (request) => {
    if (!isUnsafe(request.method) || request.headers.authorization !== undefined || request.headers.cookie === undefined) return
    if (!isFromOwnSite(request, allowed)) throw new Refusal('csrf_rejected')
  })
}
