import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { App, Departure } from '../http/app-type.ts'
import { registerDeparture } from '../http/departure.ts'
import { registerDrain } from '../http/drain.ts'
import { trustedProxies } from '../http/origin.ts'
import { arrivalTimeouts } from '../http/timeouts.ts'
import { registerCallbacks } from './callbacks.ts'
import { registerOperatorErrors } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { registerOwnHosts } from './own-hosts.ts'
import { registerTestClock, type SandboxControl } from './test-clock.ts'

/** The private listener: provider callbacks and metrics. The public one never serves them and the API's document never lists them. */
type OperatorDeps = Parameters<typeof registerCallbacks>[1]

export const createOperator = async (
  deps: OperatorDeps,
  metrics: Metrics,
  departure: Departure,
  sandbox?: SandboxControl,
): Promise<App> => {
  const app: App = fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // A provider's notice is a few kilobytes.
    bodyLimit: 64 * 1024,
    ...arrivalTimeouts(deps.config.REQUEST_TIMEOUT_MS),
    return503OnClosing: false,
    trustProxy: trustedProxies(deps.config.TRUST_PROXY),
  }).withTypeProvider<ZodTypeProvider>()
  registerDeparture(app, departure)
  registerDrain(app)
  registerOwnHosts(app, deps.config)
  metrics.serve(app)
  registerOperatorErrors(app)
  registerCallbacks(app, deps)
  if (sandbox) registerTestClock(app, deps, sandbox)
  app.get('/healthz', async () => ({ status: 'ok' }))
  return app
}
