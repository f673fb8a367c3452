import type { Clock } from '../lib/clock.ts'
import type { App } from './app-type.ts'

const policy = (production: boolean): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "script-src-attr 'none'",
    "font-src 'self' data:",
    ...(production ? ['upgrade-insecure-requests'] : []),
  ].join(';')

/**
 * The headers of every answer for browsers. Built once: a general plugin builds them for each request, which cost a tenth of a read. A page
 * that needs another policy replaces this one.
 */
const securityHeaders = (production: boolean): Readonly<Record<string, string>> => ({
  'content-security-policy': policy(production),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  ...(production && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
})

/** The first hook of all, so that refusals of later hooks have the headers too. */
export const registerConstantHeaders = (app: App, production: boolean, clock: Clock): void => {
  const constant = securityHeaders(production)
  app.addHook('onRequest', (request, reply, done) => {
    // Pages count from the service's time, which the sandbox moves.
    reply.headers(constant).headers({ 'x-request-id': request.id, date: clock.now().toUTCString() })
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const credentials = request.caller !== null || reply.hasHeader('set-cookie')
    if (credentials && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    done(null, payload)
  })
}
