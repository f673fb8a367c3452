import { isDeepStrictEqual } from 'node:util'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound, Refusal, refuseFields } from '../lib/errors.ts'
import { watchRequests } from '../lib/tracing.ts'
import { type App, mcpPath, metadataPath, type Shutdown } from './app-type.ts'
import { readForwardedAddresses } from './client-address.ts'
import { registerDrain, registerShutdown } from './drain.ts'
import { refuseUnroutable } from './errors.ts'
import { requestIdOf } from './internal-call.ts'
import { refuseMalformedRequest } from './malformed-request.ts'
import { registerRequestLog } from './request-log.ts'
import { parseQuery } from './request-syntax.ts'
import { fieldErrors, parameterErrors, sentences } from './sentences.ts'
import { registerShedding } from './shed.ts'

const contentPolicy = (production: boolean): string =>
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

/** Built once, because a general plugin would build the headers for every request, which takes a tenth of the time of a read. */
const securityHeaders = (production: boolean): Readonly<Record<string, string>> => ({
  'content-security-policy': contentPolicy(production),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  ...(production && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
})

/** Must be the first hook, so that refusals by later hooks have these headers too. */
export const registerConstantHeaders = (app: App, production: boolean, clock: Clock): void => {
  const constant = securityHeaders(production)
  app.addHook('onRequest', (request, reply, done) => {
    // Pages use the service's time, which the sandbox can move, for relative times.
    reply.headers(constant).headers({ 'x-request-id': request.id, date: clock.now().toUTCString() })
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const credentials = request.caller !== null || reply.hasHeader('set-cookie')
    if (credentials && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    done(null, payload)
  })
}

/** After this time without any traffic, the peer is gone or just occupies the connection. Idle connections end earlier. */
const inactivityTimeoutMs = (keepAliveSeconds: number): number => Math.max(80_000, keepAliveSeconds * 1000 + 10_000)

export const listenerOptions = ({ config, logger }: { config: Config; logger: Logger }) => ({
  loggerInstance: logger as FastifyBaseLogger,
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
  bodyLimit: 64 * 1024,
  // A request must be complete this long after its connection opened, so that no client can occupy a connection by sending
  // slowly. By default, Node checks this only every thirty seconds.
  requestTimeout: config.REQUEST_TIMEOUT_MS,
  connectionTimeout: inactivityTimeoutMs(config.KEEP_ALIVE_SECONDS),
  // Longer than the proxy keeps idle connections, so that the service never closes a connection that the proxy is about to use.
  keepAliveTimeout: config.KEEP_ALIVE_SECONDS * 1000,
  http: {
    headersTimeout: config.REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(config.REQUEST_TIMEOUT_MS / 2)),
  },
  // While the server closes, requests on open connections are still served.
  return503OnClosing: false,
  // By default, no proxy's forwarded headers are trusted.
  trustProxy: config.TRUST_PROXY === undefined ? (false as const) : [...config.TRUST_PROXY],
})

type Declared = z.ZodType | { properties: z.ZodType }

const schemaOf = (declared: Declared): z.ZodType => {
  const schema = 'properties' in declared && !('_zod' in declared) ? declared.properties : declared
  if (!(schema instanceof z.ZodType)) throw new TypeError('an answer is declared by something that is no schema')
  return schema
}

const checkingSerializer =
  (schema: z.ZodType) =>
  (value: unknown): string => {
    const text = JSON.stringify(value)
    const declared = JSON.stringify(z.encode(schema, value))
    if (!isDeepStrictEqual(JSON.parse(text), JSON.parse(declared)))
      throw new Error(`an answer is not what its schema declares: ${text.slice(0, 500)} instead of ${declared.slice(0, 500)}`)
    return text
  }

/** `check`: for tests, verifies that responses exactly match their schema. Checking takes longer than serialising. */
export const serializers =
  (check: boolean): FastifySerializerCompiler<Declared> =>
  ({ schema }) =>
    check ? checkingSerializer(schemaOf(schema)) : JSON.stringify

/** A malformed id in a path gets the same response as an unknown id. If it resembles an id, the message explains the fault. */
const unknownPath = (params: unknown, issues: readonly z.core.$ZodIssue[]): Refusal => {
  const [issue] = issues
  if (typeof params === 'object' && params && Object.values(params).includes(''))
    return new Refusal('not_found', { message: 'There is no such path: leave the slash at its end out.' })
  const near = issue?.code === 'custom' && issue.params?.near === true
  return near ? new Refusal('not_found', { message: `There is no such resource: the id ${issue.message}.` }) : notFound()
}

/** Endpoints (and their 404) for pages of any origin: credentials are bearer tokens or in the body. Excludes consent pages. */
const openToAll = /^\/mcp(\/|$)|^\/v1\/oauth\/(?!authoriz|device\/)|\/\.well-known\//

/** Other URLs that clients derive from the MCP URL and its metadata (RFC 8414 and 9728 insert a path, some clients append it). */
const pathAliases: Readonly<Record<string, string>> = {
  '/mcp': mcpPath,
  '/.well-known/oauth-authorization-server/mcp': '/.well-known/oauth-authorization-server',
  '/mcp/.well-known/oauth-authorization-server': '/.well-known/oauth-authorization-server',
  '/mcp/.well-known/oauth-protected-resource': metadataPath(mcpPath),
}

type HttpParts = { config: Config; clock: Clock; logger: Logger; shutdown: Shutdown }

export const createHttp = async (parts: HttpParts): Promise<App> => {
  const { config, clock, logger, shutdown } = parts
  const app: App = fastify({
    ...listenerOptions(parts),
    rewriteUrl: ({ url = '/' }) => url.replace(/^[^?]*/, (path) => pathAliases[path.replace(/\/$/, '')] ?? path),
    routerOptions: { maxParamLength: 300, querystringParser: parseQuery },
    genReqId: requestIdOf,
    frameworkErrors: refuseUnroutable,
    clientErrorHandler: refuseMalformedRequest(config.publicUrl),
  }).withTypeProvider<ZodTypeProvider>()
  app.decorate('publicUrl', config.publicUrl)
  registerShutdown(app, shutdown)
  registerDrain(app)
  await watchRequests(app)
  app.setSerializerCompiler(serializers(config.NODE_ENV === 'test'))
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data) => {
    const result = schema.safeParse(data, { error: sentences() })
    if (result.success) return { value: result.data }
    const { issues } = result.error
    if (httpPart === 'params') return { error: unknownPath(data, issues) }
    return { error: refuseFields(httpPart === 'querystring' ? parameterErrors(data, issues) : fieldErrors(issues)) }
  })
  readForwardedAddresses(app)
  registerConstantHeaders(app, config.NODE_ENV === 'production', clock)
  if (config.SHED_LOAD) registerShedding(app)
  registerRequestLog(app, logger)
  const shared = {
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'x-request-id',
      'idempotency-replayed',
      'retry-after',
      'payments-should-retry',
      'www-authenticate',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
    ],
    maxAge: 600,
  }
  const toAll = { ...shared, origin: '*', credentials: false }
  const toNamed = { ...shared, origin: config.CORS_ORIGINS.length > 0 ? [...config.CORS_ORIGINS] : false, credentials: true }
  await app.register(cors, {
    delegator: ({ url }, done) => done(null, openToAll.test(url.split('?')[0] ?? '') ? toAll : toNamed),
  })
  await app.register(cookie)
  return app
}
