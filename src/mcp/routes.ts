import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config.ts'
import { describeError } from '../db/errors.ts'
import { accepts } from '../http/accept.ts'
import { type App, mcpPath } from '../http/app-type.ts'
import { checkPermission, isUnsafe } from '../http/authorize.ts'
import { toRefusal } from '../http/errors.ts'
import { callRoute, type InternalAnswer, type InternalCall, type OuterRequest } from '../http/internal-call.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import type { RouteEntry } from '../http/route-table.ts'
import type { Clock } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'
import { isLoopbackUrl } from '../lib/loopback.ts'
import { maxBatchBytes } from '../modules/payments/batch/schema.ts'
import type { Exchange, McpEndpoint } from './server.ts'
import { mayWait } from './tool.ts'
import { calledBy } from './tools.ts'

type McpDeps = {
  config: Config
  clock: Clock
  routes: readonly RouteEntry[]
  countMore: RateLimits['countMore']
}

const isSameMachine = (publicUrl: string, origin: string): boolean =>
  URL.canParse(origin) && isLoopbackUrl(origin) && isLoopbackUrl(publicUrl) && new URL(origin).port === new URL(publicUrl).port

/**
 * Rejects foreign host names that resolve to this server (DNS rebinding). `request.host` uses forwarded headers only from a
 * configured proxy. Pages of any origin may call the server: their authority is a bearer token, never a cookie.
 */
const checkHost = (request: FastifyRequest, { publicUrl }: Config): void => {
  const host = `${new URL(publicUrl).protocol}//${request.host}`
  if (host !== publicUrl && !isSameMachine(publicUrl, host))
    throw new Refusal('forbidden', { message: `This server is ${publicUrl}, not ${request.host}.` })
}

/**
 * Checks permissions before the protocol's response begins: a missing permission must be an HTTP status, so that a client asks
 * its user for the scope. An API key cannot get more scopes, so the tool's result describes the next step.
 */
const checkScopes = (body: unknown, principal: Principal, { routes }: McpDeps): void => {
  if (principal.credential.kind === 'api_key') return
  for (const message of [body].flat()) {
    const operation = calledBy(message)?.tool.operation
    const route = routes.find((entry) => entry.operation === operation)
    if (route) checkPermission(principal, route.permissions)
  }
}

const refusedCall = ({ status, code: error, message, details = {}, headers }: Refusal): InternalAnswer => ({
  status,
  replayed: false,
  retryAfterSeconds: headers?.['retry-after'] === undefined ? undefined : Number(headers['retry-after']),
  body: { error, message, details },
})

/**
 * After a wait or a change, each further call of a tool checks the credential again, because it may have been revoked. Tools that
 * respond at once rely on the check of the request.
 */
const callerOf = (app: App, deps: McpDeps, request: FastifyRequest, ended: AbortSignal): Exchange['callerOf'] => {
  const { id, reauthenticate, principal } = request
  const { publicUrl, CURRENCY: currency } = deps.config
  return (input, signal) => {
    let acting: OuterRequest = { id, reauthenticate, caller: principal }
    const waits = mayWait(input)
    let mustRecheck = false
    // A credential that has ended, or a database that fails, is an answer like the route's own: a tool still reports what it made.
    const call = async (internalCall: InternalCall): Promise<InternalAnswer> => {
      if (mustRecheck) {
        const caller = await reauthenticate().catch((error: unknown) => {
          const refusal = toRefusal(error, request)
          if (!refusal) throw error
          if (refusal.status >= 500) request.log.error(describeError(error), refusal.message)
          return refusal
        })
        if (caller instanceof Refusal) return refusedCall(caller)
        acting = { ...acting, caller }
      }
      mustRecheck ||= waits || isUnsafe(internalCall.method)
      return callRoute(app, acting, internalCall)
    }
    const gone = AbortSignal.any([signal, ended])
    const logBug = (error: unknown) => {
      // A wait that a client or a shutdown ended is no bug.
      if (!gone.aborted) request.log.error(describeError(error), 'an MCP tool failed')
      return id
    }
    return { call, publicUrl, currency, now: () => deps.clock.now(), signal: gone, logBug }
  }
}

const mediaTypes = { json: 'application/json', stream: 'text/event-stream' } as const

/** The package requires clients to accept both formats. This server responds in the accepted one (RFC 9110, 12.5.1). */
const headersOf = ({ headers }: FastifyRequest): [string, string][] => [
  ['accept', Object.values(mediaTypes).join(', ')],
  ...Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && (name === 'content-type' || name.startsWith('mcp-')) ? [[name, value]] : [],
  ),
]

const onlyAcceptedForm = (request: FastifyRequest): keyof typeof mediaTypes | undefined => {
  const [json, stream] = [accepts(request, mediaTypes.json), accepts(request, mediaTypes.stream)]
  return json === stream ? undefined : json ? 'json' : 'stream'
}

export const registerMcp = (app: App, deps: McpDeps): void => {
  // Loaded at the first call, so that a service without agents does not load the protocol library.
  let endpoint: Promise<McpEndpoint> | undefined
  const load = async () => {
    const { createMcpEndpoint } = await import('./server.ts')
    return createMcpEndpoint((error) => app.log.info(describeError(error), 'an MCP request failed'))
  }
  const openRequests = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const one of openRequests) one.abort()
    await (await endpoint)?.close()
  })
  app.post(
    mcpPath,
    {
      config: {
        operation: 'mcp.call',
        access: 'authenticated',
        resource: mcpPath,
        query: 'lenient',
        longLived: true,
        // Each internal call checks its own route: reads, cancellations and replays work while the account is frozen.
        whileFrozen: true,
        // The internal calls of the tools are logged instead.
        changesNothing: true,
        refuses: ['forbidden'],
      },
      bodyLimit: maxBatchBytes,
      schema: {
        hide: true,
        body: z.unknown(),
        response: { 200: z.unknown().describe('A message of the protocol.') },
      },
      preHandler: async (request, reply) => {
        checkHost(request, deps.config)
        // Each message of a batch counts as a request.
        if (Array.isArray(request.body)) await deps.countMore(request, reply, request.body.length - 1)
        checkScopes(request.body, request.principal, deps)
      },
    },
    async (request, reply) => {
      const ending = new AbortController()
      openRequests.add(ending)
      const end = () => {
        openRequests.delete(ending)
        if (!reply.raw.writableFinished) ending.abort()
      }
      if (reply.raw.destroyed) end()
      else reply.raw.once('close', end)
      endpoint ??= load()
      const { answer } = await endpoint
      const { rawBody } = request
      const messages = [request.body].flat().map((message) => calledBy(message)?.message ?? message)
      const body = Array.isArray(request.body) ? messages : messages[0]
      const form = onlyAcceptedForm(request)
      const init = { method: 'POST', headers: headersOf(request), body: rawBody, signal: ending.signal }
      const response = await answer({
        request: new Request(deps.config.publicUrl + mcpPath, init),
        body,
        inJson: form === 'json',
        callerOf: callerOf(app, deps, request, ending.signal),
      })
      response.headers.set('cache-control', 'no-store')
      const isPlain = response.status === 200 && response.headers.get('content-type')?.startsWith('application/json')
      if (!isPlain) return reply.send(response)
      // Sent as text, because a stream takes longer than the tool call.
      const text = await response.text()
      const { headers } = response
      if (form === 'stream') headers.set('content-type', mediaTypes.stream)
      return reply
        .code(response.status)
        .headers(Object.fromEntries(headers))
        .send(form === 'stream' ? `event: message\ndata: ${text}\n\n` : text)
    },
  )
}
