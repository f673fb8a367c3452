import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, propagation, type Span, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { installTracing } from '../lib/tracing.ts'

type RunningTracing = { flush: () => Promise<void>; stop: () => Promise<void> }

/** Traces by OTLP over HTTP. Loaded only if an endpoint is configured: it costs memory and time. */
export const startTracing = ({ endpoint, serviceName }: { endpoint: string; serviceName: string }): RunningTracing => {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  provider.register()
  installTracing(async (app) => {
    const requests = new FastifyOtelInstrumentation({
      instrumentHooks: false,
      // The route replaces the address, which contains ids, typed codes and search terms.
      requestHook: (active: Span, request: FastifyRequest) => {
        const { config, url } = request.routeOptions
        const { operation } = config
        active.setAttribute('url.path', url ?? '')
        if (operation === undefined) return
        active.updateName(operation)
        active.setAttribute('operation', operation)
      },
    })
    requests.setTracerProvider(provider)
    await (app as FastifyInstance).register(requests.plugin())
  })
  return {
    flush: () => provider.forceFlush(),
    stop: async () => {
      installTracing(undefined)
      await provider.shutdown()
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}
