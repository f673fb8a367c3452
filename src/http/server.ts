import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { notFound, Refusal, refuseFields } from '../lib/errors.ts'
import { watchRequests } from '../lib/tracing.ts'
import type { App, Departure } from './app-type.ts'
import { registerDeparture } from './departure.ts'
import { registerDrain } from './drain.ts'
import { createEnvelope, errorPageUrl } from './envelope.ts'
import { fieldErrors } from './field-errors.ts'
import { requestIdOf } from './internal-call.ts'
import { trustedProxies } from './origin.ts'
import { mcpPath } from './protected-resource.ts'
import { parseQuery } from './query.ts'
import { registerRequestLog } from './request-log.ts'
import { registerConstantHeaders } from './security-headers.ts'
import { sentenceOf } from './sentences.ts'
import { serializers } from './serializer.ts'
import { registerShedding } from './shed.ts'
import { arrivalTimeouts } from './timeouts.ts'
import { refuseGarbage, refuseUnroutable } from './unroutable.ts'

const bodyLimitBytes = 64 * 1024

/** A malformed id in a path gets the answer for an unknown one; when it resembles an id, the answer says what is wrong with it. */
const unknownPath = (params: unknown, issues: readonly z.core.$ZodIssue[]): Refusal => {
  const [issue] = issues
  if (typeof params === 'object' && params && Object.values(params).includes(''))
    return new Refusal('not_found', { message: 'There is no such path: leave the slash at its end out.' })
  const near = issue?.code === 'custom' && issue.params?.near === true
  return near ? new Refusal('not_found', { message: `There is no such resource: the id ${issue.message}.` }) : notFound()
}

export type HttpOptions = {
  logger: Logger
  departure: Departure
  publicUrl: string
  corsOrigins: readonly string[]
  trustProxy: readonly string[] | undefined
  requestTimeoutMs: number
  production: boolean
  clock: Clock
  /** Checks every answer against its schema, for tests: it costs as much as the answer. */
  checkAnswers: boolean
  /** Whether requests that would wait for long are refused at once. */
  shedLoad: boolean
}

/** The bare HTTP server: headers, limits and validation, without routes. */
export const createHttp = async (options: HttpOptions): Promise<App> => {
  const envelope = createEnvelope(options.publicUrl)
  const timeouts = arrivalTimeouts(options.requestTimeoutMs)
  const app: App = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: bodyLimitBytes,
    ...timeouts,
    // A request on an open connection while we close is answered like any other, with `Connection: close`.
    return503OnClosing: false,
    // Clients copy the MCP server's address with a slash at its end.
    rewriteUrl: ({ url = '/' }) => (/^\/mcp\/(\?|$)/.test(url) ? url.replace('/mcp/', mcpPath) : url),
    routerOptions: { maxParamLength: 300, querystringParser: parseQuery },
    // One id for everything that one request caused.
    genReqId: requestIdOf,
    frameworkErrors: refuseUnroutable(envelope),
    clientErrorHandler: refuseGarbage(envelope),
    trustProxy: trustedProxies(options.trustProxy),
  }).withTypeProvider<ZodTypeProvider>()
  app.decorate('errorUrlOf', (code: string) => errorPageUrl(options.publicUrl, code))
  registerDeparture(app, options.departure)
  registerDrain(app)
  await watchRequests(app)
  app.setSerializerCompiler(serializers(options.checkAnswers))
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data) => {
    const result = schema.safeParse(data, { error: sentenceOf })
    if (result.success) return { value: result.data }
    return {
      error: httpPart === 'params' ? unknownPath(data, result.error.issues) : refuseFields(fieldErrors(result.error.issues)),
    }
  })
  registerConstantHeaders(app, options.production, options.clock)
  if (options.shedLoad) registerShedding(app, envelope)
  registerRequestLog(app, options.logger)
  await app.register(cors, {
    origin: options.corsOrigins.length > 0 ? [...options.corsOrigins] : false,
    credentials: true,
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
  })
  await app.register(cookie)
  return app
}
