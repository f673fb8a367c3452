import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import type { App } from '../../http/app-type.ts'
import { type GaugeDeps, registerGauges } from './gauges.ts'

export type Metrics = {
  /** Times every request of this listener, named by its operation: paths contain ids, and each id would become a time series. */
  watch: (app: App) => void
  /** Serves the metrics. For the private listener only. */
  serve: (app: App) => void
}

const bucketsSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A registry of its own, so that two services in one process do not count each other's requests. */
export const createMetrics = (deps: GaugeDeps, registry: Registry): Metrics => {
  collectDefaultMetrics({ register: registry })
  const readGauges = registerGauges(registry, deps)
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'How long requests took, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: bucketsSeconds,
    registers: [registry],
  })
  return {
    watch: (app) => {
      app.addHook('onResponse', (request, reply, done) => {
        done()
        const { operation, internal, longLived } = request.routeOptions.config
        if (longLived) return
        requests.observe(
          { operation: operation ?? (internal ? 'page' : 'none'), status: reply.statusCode },
          reply.elapsedTime / 1000,
        )
      })
    },
    serve: (app) => {
      app.get('/metrics', async (_request, reply) => {
        await readGauges()
        return reply.type(registry.contentType).send(await registry.metrics())
      })
    },
  }
}
