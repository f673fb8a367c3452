import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import { fastify, LogController } from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { type FieldError, invalidFields, notFound, Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { registerDrain } from './drain.ts'
import { createEnvelope, errorPageUrl } from './envelope.ts'
import { trustedProxies } from './origin.ts'
import { sentenceOf } from './sentences.ts'
import { registerShedding } from './shed.ts'
import { arrivalTimeouts } from './timeouts.ts'
import { refuseGarbage, refuseUnroutable } from './unroutable.ts'

const bodyLimitBytes = 64 * 1024

const fieldErrors = (issues: readonly z.core.$ZodIssue[]): FieldError[] =>
  issues.flatMap((issue): FieldError[] => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: path ? `${path}.${key}` : key, message: issue.message }))
    if (issue.code === 'invalid_union' && issue.errors.length > 0) return fieldErrors(issue.errors.flat())
    return [{ path: path || 'body', message: issue.message }]
  })

/** A malformed id in a path names nothing: the answer of an unknown one, but where it is nearly one it says what is wrong with it. */
const unknownPath = (params: unknown, issues: readonly z.core.$ZodIssue[]): Refusal => {
  const [issue] = issues
  if (typeof params === 'object' && params && Object.values(params).includes(''))
    return new Refusal('not_found', { message: 'There is no such path: leave the slash at its end out.' })
  const near = issue?.code === 'custom' && issue.params?.near === true
  return near ? new Refusal('not_found', { message: `There is no such resource: the id ${issue.message}.` }) : notFound()
}

export type HttpOptions = {
  logger: Logger
  publicUrl: string
  corsOrigins: readonly string[]
  trustProxy: readonly string[] | undefined
  requestTimeoutMs: number
  production: boolean
}

/** The bare HTTP server: headers, limits and validation, before it knows any route. */
export const createHttp = async (options: HttpOptions): Promise<App> => {
  const envelope = createEnvelope(options.publicUrl)
  const app: App = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: bodyLimitBytes,
    ...arrivalTimeouts(options.requestTimeoutMs),
    // A request that arrives over an open connection while we close is answered like any other, and told to go elsewhere next.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    genReqId: () => randomUUID(),
    frameworkErrors: refuseUnroutable(envelope),
    clientErrorHandler: refuseGarbage(envelope),
    trustProxy: trustedProxies(options.trustProxy),
  }) as unknown as App
  app.decorate('errorUrlOf', (code: string) => errorPageUrl(options.publicUrl, code))
  registerDrain(app)
  app.setSerializerCompiler(serializerCompiler)
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data) => {
    const result = schema.safeParse(data, { error: sentenceOf })
    if (result.success) return { value: result.data }
    return {
      error: httpPart === 'params' ? unknownPath(data, result.error.issues) : invalidFields(...fieldErrors(result.error.issues)),
    }
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const credentials = request.caller !== null || reply.getHeader('set-cookie') !== undefined
    if (credentials && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    return payload
  })
  app.addHook('onResponse', async (request, reply) => {
    const { config } = request.routeOptions
    if (config.internal && reply.statusCode < 400) return
    const { caller } = request
    request.log.info(
      {
        operation: config.operation,
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ...(caller && { account: caller.accountId, credential: `${caller.credential.kind}:${caller.credential.id}` }),
      },
      'request',
    )
  })
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        scriptSrcAttr: ["'none'"],
        fontSrc: ["'self'", 'data:'],
        ...(options.production ? { upgradeInsecureRequests: [] } : {}),
      },
    },
    strictTransportSecurity: options.production ? { maxAge: 31_536_000 } : false,
    frameguard: { action: 'deny' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
  })
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
  await registerShedding(app)
  return app
}
