import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'

/**
 * A cookie travels with requests that its owner never made. So an unsafe request that is authenticated by cookie must come from
 * this site or an allowed origin when the browser says where it comes from (Fetch Metadata, else Origin).
 */
export const registerCsrfGuard = (app: App, ownOrigin: string, allowedOrigins: readonly string[]): void => {
  const allowed = new Set([ownOrigin, ...allowedOrigins])
  app.addHook('onRequest', async (request) => {
    if (!isUnsafe(request.method) || request.headers.authorization !== undefined || request.headers.cookie === undefined) return
    const { origin } = request.headers
    const site = request.headers['sec-fetch-site']
    if (origin !== undefined && allowed.has(origin)) return
    const sameSite = site === undefined ? origin === undefined : site === 'same-origin' || site === 'none'
    if (!sameSite) throw new Refusal('csrf_rejected')
  })
}
