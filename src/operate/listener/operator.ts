import { type FastifyRequest, fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { describeError, translateDatabaseError } from '../../db/errors.ts'
import type { App, Shutdown } from '../../http/app-type.ts'
import { readForwardedAddresses } from '../../http/client-address.ts'
import { registerDrain, registerShutdown } from '../../http/drain.ts'
import { listenerOptions } from '../../http/server.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Parts } from '../../modules/parts.ts'
import { registerCallbacks } from './callbacks.ts'
import type { Metrics } from './metrics.ts'
import { hasControlToken, registerSandbox, type SandboxControl } from './sandbox.ts'

const loopback = ['localhost', '127.0.0.1', '[::1]']

const nameIn = (host: string): string => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** On a dual-stack socket, the address of an IPv4 client begins with `::ffff:`. */
const localName = ({ socket }: FastifyRequest): string => {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? ''
  return address.includes(':') ? `[${address}]` : address
}

/**
 * Rejects requests for another host with 403. Otherwise a page whose name resolves to this address could read metrics and move
 * the sandbox's clock from a browser behind our firewall. Browsers always send `Host`, so a probe without it is served.
 */
const registerOwnHosts = (app: App, config: Parts['config']): void => {
  const own = new Set([...loopback, nameIn(new URL(config.operatorUrl).host), ...config.OPERATOR_ALLOWED_HOSTS.map(nameIn)])
  readForwardedAddresses(app)
  app.addHook('onRequest', (request, reply, done) => {
    const { host } = request.headers
    if (host === undefined || own.has(nameIn(host)) || nameIn(host) === localName(request)) return done()
    if (hasControlToken(request, config.SANDBOX_TOKEN)) return done()
    void reply.code(403).send({ error: 'forbidden', message: 'OPERATOR_ALLOWED_HOSTS does not list this host name.' })
  })
}

const statusOf = (error: unknown): number => {
  if (translateDatabaseError(error) instanceof Refusal) return 503
  const requestedStatus = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  return requestedStatus >= 400 && requestedStatus < 500 ? requestedStatus : 500
}

/** Logs neither the path, which may contain a secret, nor the values of a query. */
const registerOperatorErrors = (app: App): void => {
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not_found' }))
  app.setErrorHandler((error, request, reply) => {
    // The client disconnected before its body arrived, which is not an error of the service.
    const left = request.raw.destroyed && !request.raw.complete
    const status = left ? 400 : statusOf(error)
    if (left) app.log.debug('a client on the private listener disconnected before its body arrived')
    if (status >= 500) app.log.error(describeError(error), 'a request on the private listener failed')
    const code = status === 503 ? 'unavailable' : status >= 500 ? 'internal_error' : 'invalid_request'
    return reply.code(status).send({ error: code })
  })
}

/** The private listener, for provider callbacks and metrics. The public listener and the API document include neither. */
export const createOperator = async (
  deps: Parts,
  metrics: Metrics,
  shutdown: Shutdown,
  sandbox?: SandboxControl,
): Promise<App> => {
  const app: App = fastify(listenerOptions(deps)).withTypeProvider<ZodTypeProvider>()
  registerShutdown(app, shutdown)
  registerDrain(app)
  registerOwnHosts(app, deps.config)
  metrics.serve(app)
  registerOperatorErrors(app)
  registerCallbacks(app, deps)
  if (sandbox) registerSandbox(app, deps, sandbox)
  app.get('/healthz', async () => ({ status: 'ok' }))
  return app
}
