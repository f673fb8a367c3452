import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, DiagLogLevel, diag, propagation, type Span, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { installTracing } from '../lib/tracing.ts'

type Tracing = { endpoint: string; serviceName: string; logger: Pick<Logger, 'warn'> }
type RunningTracing = { flush: () => Promise<void>; stop: () => Promise<void> }

/** Exports traces by OTLP over HTTP. Loaded only if an endpoint is configured, because the SDK costs memory and time. */
export const startTracing = ({ endpoint, serviceName, logger }: Tracing): RunningTracing => {
  let said = false
  const report = () => {
    if (!said) logger.warn({ endpoint }, 'the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no traces: nothing else is affected')
    said = true
  }
  // The library's messages may contain the collector's entire response.
  const ignore = () => undefined
  diag.setLogger({ error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR)
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  provider.register()
  installTracing(async (app) => {
    const requests = new FastifyOtelInstrumentation({
      instrumentHooks: false,
      // Records the route instead of the URL, which contains ids, device codes and search terms.
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
      // Ignores spans that the collector no longer accepts, so that the shutdown still succeeds.
      await provider.shutdown().catch(report)
      trace.disable()
      diag.disable()
      context.disable()
      propagation.disable()
    },
  }
}
