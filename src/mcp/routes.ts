import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config.ts'
import { describeError } from '../db/errors.ts'
import type { App } from '../http/app-type.ts'
import { checkPermission } from '../http/authorize.ts'
import { type Acting, callRoute, type InternalCall } from '../http/internal-call.ts'
import { mcpPath } from '../http/protected-resource.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import type { RouteEntry } from '../http/route-table.ts'
import type { Clock } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'
import { isLoopbackUrl } from '../lib/loopback.ts'
import type { McpEndpoint } from './server.ts'
import type { Caller } from './tool.ts'
import { createToolList } from './tool-list.ts'
import { tools } from './tools.ts'

export type McpDeps = {
  config: Config
  clock: Clock
  routes: readonly RouteEntry[]
  countMore: RateLimits['countMore']
}

const sameMachine = (publicUrl: string, origin: string): boolean =>
  URL.canParse(origin) && isLoopbackUrl(origin) && isLoopbackUrl(publicUrl) && new URL(origin).port === new URL(publicUrl).port

/**
 * The protocol requires both checks: a page on another site must not reach this server through a visitor's browser, and a foreign name that
 * resolves to this server (DNS rebinding) is refused. `request.host` uses a forwarded header only from a configured proxy.
 */
const checkOrigin = (request: FastifyRequest, { publicUrl, CORS_ORIGINS }: Config): void => {
  const { origin } = request.headers
  const scheme = new URL(publicUrl).protocol
  const host = `${scheme}//${request.host}`
  if (host !== publicUrl && !sameMachine(publicUrl, host))
    throw new Refusal('forbidden', { message: `This server is ${publicUrl}, not ${request.host}.` })
  if (origin === undefined || origin === publicUrl || CORS_ORIGINS.includes(origin) || sameMachine(publicUrl, origin)) return
  throw new Refusal('csrf_rejected', { message: 'Pages of this origin may not use the MCP server (CORS_ORIGINS).' })
}

const ToolCall = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) })

/**
 * Checks the permission of each tool that is called, before the protocol's own answer begins: a missing one must be an HTTP status, so that
 * a client asks its user for the scope and tries again. An API key gets no more scopes: there the tool's own answer says what to do.
 */
const checkScopes = (body: unknown, principal: Principal, { routes }: McpDeps): void => {
  if (principal.credential.kind === 'api_key') return
  for (const message of [body].flat()) {
    const call = ToolCall.safeParse(message)
    const tool = call.success ? tools.find(({ name }) => name === call.data.params.name) : undefined
    const route = routes.find(({ operation }) => operation === tool?.operation)
    if (route) checkPermission(principal, route.permissions)
  }
}

const callerOf = (app: App, deps: McpDeps, request: FastifyRequest, aborted: AbortSignal): ((signal: AbortSignal) => Caller) => {
  const { id, reauthenticate } = request
  let acting: Acting = { id, reauthenticate, caller: request.principal }
  let used = false
  const call = async (internalCall: InternalCall) => {
    // A tool may take long, so a credential that was revoked meanwhile is refused.
    if (used) acting = { ...acting, caller: await reauthenticate() }
    used = true
    return callRoute(app, acting, internalCall)
  }
  const { publicUrl, CURRENCY: currency } = deps.config
  return (signal) => ({
    call,
    publicUrl,
    currency,
    now: () => deps.clock.now(),
    // Made for a tool that waits: a signal of several others costs the garbage collector more than the rest of a call.
    get signal() {
      return AbortSignal.any([signal, aborted])
    },
  })
}

/** What the protocol reads of a request. The credential is not included: the caller was authenticated before. */
const protocolHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

const webRequest = (request: FastifyRequest, publicUrl: string, signal?: AbortSignal): Request => {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    (protocolHeaders.includes(name) || name.startsWith('mcp-')) && typeof value === 'string' ? [[name, value]] : [],
  )
  return new Request(publicUrl + mcpPath, { method: 'POST', headers, body: request.rawBody, ...(signal && { signal }) })
}

/** The Model Context Protocol at /mcp: tools over the routes of this service, for agents. */
export const registerMcp = (app: App, deps: McpDeps): void => {
  // Loaded by the first call: a service without agents does not load the protocol's code.
  let endpoint: Promise<McpEndpoint> | undefined
  const load = async () => {
    const { createMcpEndpoint } = await import('./server.ts')
    return createMcpEndpoint((error) => app.log.info(describeError(error), 'an MCP request was not served'))
  }
  const toolList = createToolList()
  const underWay = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const one of underWay) one.abort()
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
        // What its tools call is recorded.
        changesNothing: true,
        refuses: ['forbidden'],
      },
      schema: {
        hide: true,
        body: z.unknown(),
        response: { 200: z.unknown().meta({ description: 'A message of the protocol.' }) },
      },
      preHandler: async (request, reply) => {
        checkOrigin(request, deps.config)
        // Each message of a batch is a request.
        if (Array.isArray(request.body)) await deps.countMore(request, reply, request.body.length - 1)
        checkScopes(request.body, request.principal, deps)
      },
    },
    async (request, reply) => {
      const ending = new AbortController()
      const { signal: aborted } = ending
      underWay.add(ending)
      reply.raw.once('close', () => {
        underWay.delete(ending)
        if (!reply.raw.writableFinished) ending.abort()
      })
      endpoint ??= load()
      const { answer } = await endpoint
      const forwarded = (signal?: AbortSignal) => webRequest(request, deps.config.publicUrl, signal)
      const answerTo = (body: unknown) => answer(forwarded, body, callerOf(app, deps, request, aborted), aborted)
      const list = await toolList(request.body, JSON.stringify([...forwarded().headers]), answerTo)
      if (list) return reply.headers(list.headers).send(list.text)
      const response = await answerTo(request.body)
      const isPlain = response.status === 200 && response.headers.get('content-type')?.startsWith('application/json')
      if (!isPlain) return reply.send(response)
      // As text: a stream costs more than the call of a tool.
      return reply
        .code(response.status)
        .headers(Object.fromEntries(response.headers))
        .send(await response.text())
    },
  )
}
